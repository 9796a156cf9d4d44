package understudy.chaos.evidence;

/** What a scenario left behind, whatever was under test. */
public interface ScenarioEvidence {
    /** Returns the name of the scenario. */
    String scenario();

    /** Returns the time from the scenario's start to its end. */
    long durationNanos();

    /** Returns how late the machine was meanwhile. */
    Lateness lateness();
}
