package understudy.chaos.law;

import java.util.List;
import understudy.chaos.evidence.ScenarioEvidence;

/**
 * Statement about what the subject of a test does, which the evidence of a scenario keeps or breaks.
 *
 * @param <E> evidence that scenarios of this kind leave behind
 */
public interface Law<E extends ScenarioEvidence> {
    /** Returns the name by which scenarios choose the law, such as {@code tokens-in-order}. */
    String name();

    /** Returns the law as a sentence for a reader of the score card. */
    String statement();

    /**
     * Returns whether a machine that is late may break it though the gateway is good: where the law compares times, or
     * counts what time-outs of the gateway, of its probes or of clients change.
     */
    boolean dependsOnTime();

    /**
     * Judges a scenario.
     *
     * @param evidence all that the scenario left behind
     * @return each breach, in the order of its time; empty if the law was kept
     */
    List<Breach> judge(E evidence);
}
