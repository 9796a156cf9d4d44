package understudy.chaos.law;

import java.util.List;
import understudy.chaos.evidence.ScenarioEvidence;

/**
 * What a law says of a scenario.
 *
 * @param law name of the law
 * @param statement the law as a sentence
 * @param breaches cases in which it was broken, or seems to have been, in the order of their time
 * @param doubt why the breaches are no verdict, or an empty text
 */
public record Verdict(String law, String statement, List<Breach> breaches, String doubt) {

    public Verdict {
        breaches = List.copyOf(breaches);
    }

    /**
     * Judges a scenario by a law. Breaches of one that depends on time are in doubt if the machine was late; that it was
     * kept is not.
     */
    public static <E extends ScenarioEvidence> Verdict of(Law<E> law, E evidence) {
        var breaches = law.judge(evidence);
        boolean isInDoubt = !breaches.isEmpty()
                && law.dependsOnTime()
                && evidence.lateness().isTooMuch();
        return new Verdict(law.name(), law.statement(), breaches, isInDoubt ? doubt(evidence) : "");
    }

    private static String doubt(ScenarioEvidence evidence) {
        var lateness = evidence.lateness();
        String late = "this machine was late by " + Judgement.seconds(lateness.totalNanos()) + " of "
                + Judgement.seconds(evidence.durationNanos());
        return lateness.isCrowded()
                ? late + ", and " + Judgement.ratio(lateness.threadsPerProcessor())
                        + " threads wanted each processor in some second"
                : late;
    }

    /** Returns whether the law was kept. */
    public boolean isKept() {
        return breaches.isEmpty();
    }

    /** Returns whether the law was broken, and not only seems to have been. */
    public boolean isBroken() {
        return !breaches.isEmpty() && doubt.isEmpty();
    }

    /** Returns whether nothing can be said. */
    public boolean isInDoubt() {
        return !doubt.isEmpty();
    }
}
