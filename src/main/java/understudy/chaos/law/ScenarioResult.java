package understudy.chaos.law;

import java.util.List;
import understudy.chaos.evidence.ScenarioEvidence;

/**
 * Result of one scenario.
 *
 * @param description what happens in the scenario, and why that matters, for a reader of the report
 * @param evidence what the scenario left behind
 * @param verdicts of the laws that the scenario is judged by
 */
public record ScenarioResult(String description, ScenarioEvidence evidence, List<Verdict> verdicts) {

    public ScenarioResult {
        verdicts = List.copyOf(verdicts);
    }

    /** Judges a scenario by laws. */
    public static <E extends ScenarioEvidence> ScenarioResult judge(
            String description, E evidence, List<? extends Law<E>> laws) {
        return new ScenarioResult(
                description,
                evidence,
                laws.stream().map(law -> Verdict.of(law, evidence)).toList());
    }

    /** Returns whether all laws were kept. */
    public boolean isPassed() {
        return verdicts.stream().allMatch(Verdict::isKept);
    }

    /** Returns whether a law was broken. */
    public boolean isBroken() {
        return verdicts.stream().anyMatch(Verdict::isBroken);
    }

    /** Returns whether none was broken, and one could not be judged. */
    public boolean isInDoubt() {
        return !isBroken() && verdicts.stream().anyMatch(Verdict::isInDoubt);
    }
}
