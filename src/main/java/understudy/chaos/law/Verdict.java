package understudy.chaos.law;

import java.util.List;
import understudy.chaos.evidence.Evidence;

/**
 * What a law says of a scenario.
 *
 * @param law name of the law
 * @param statement the law as a sentence
 * @param breaches cases in which it was broken, in the order of their time
 */
public record Verdict(String law, String statement, List<Breach> breaches) {

    public Verdict {
        breaches = List.copyOf(breaches);
    }

    /** Judges a scenario by a law. */
    public static Verdict of(Law law, Evidence evidence) {
        return new Verdict(law.name(), law.statement(), law.judge(evidence));
    }

    /** Returns whether the law was kept. */
    public boolean isKept() {
        return breaches.isEmpty();
    }
}
