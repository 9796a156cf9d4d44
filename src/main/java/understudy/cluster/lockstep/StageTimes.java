package understudy.cluster.lockstep;

/**
 * Times at which the stages of a pipeline are free. A step passes one stage after the other, each when the step before it
 * has left; a device without a pipeline is one stage.
 */
public final class StageTimes {
    private final long[] freeBefore;
    private final long[] freeNanos;

    /** When the steps accepted last leave the last stage, in turn; one more than there are stages. */
    private final long[] endNanos;

    private int numSteps;

    /** Creates {@code count} stages that are free; at least one. */
    public StageTimes(int count) {
        freeBefore = new long[count];
        freeNanos = new long[count];
        endNanos = new long[count + 1];
    }

    /**
     * Accepts a step, and returns when it enters the first stage.
     *
     * @throws IllegalStateException if there is a step for each stage, and one more
     */
    public long enter(long nowNanos) {
        numSteps++;
        if (endNanos[numSteps % endNanos.length] > nowNanos) {
            throw new IllegalStateException(
                    "a step runs in each stage and another one waits; no room for step " + numSteps);
        }
        System.arraycopy(freeNanos, 0, freeBefore, 0, freeNanos.length);
        return Math.max(nowNanos, freeBefore[0]);
    }

    /**
     * Returns when the step accepted last leaves the last stage; in place of what was returned before for it.
     *
     * @param startNanos when it enters the first stage
     * @param earlierNanos how long it takes in each stage but the last
     * @param lastNanos how long it takes in the last stage
     */
    public long leave(long startNanos, long earlierNanos, long lastNanos) {
        long atNanos = startNanos;
        for (int stage = 0; stage < freeNanos.length; stage++) {
            boolean isLast = stage == freeNanos.length - 1;
            atNanos = Math.max(atNanos, freeBefore[stage]) + (isLast ? lastNanos : earlierNanos);
            freeNanos[stage] = atNanos;
        }
        endNanos[numSteps % endNanos.length] = atNanos;
        return atNanos;
    }

    /** Returns when the step before the last one left, or leaves, the last stage. */
    public long previousEndNanos() {
        return freeBefore[freeBefore.length - 1];
    }
}
