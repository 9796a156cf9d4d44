package understudy.chaos.scenario;

/** A scenario as a list shows it. */
public interface NamedScenario {
    /** Returns the name by which it is chosen. */
    String name();

    /** Returns one sentence: what happens. */
    String description();

    /** Returns a public incident of this kind; an empty text if none is known. */
    String incident();

    /** Returns whether it runs only where replicas speak TLS. */
    default boolean needsTls() {
        return false;
    }
}
