package understudy.engine.sglang;

/**
 * Delay of prefills ({@code managers/prefill_delayer.py}), so that they come in larger batches: while the seats that are free
 * are fewer than the largest prefill batch so far, or too few requests wait in relation to those that run. The first delay
 * is left out, as in SGLang.
 */
final class PrefillDelayer {
    /** No delay goes on. */
    private static final long NONE = -1;

    private final SglangConfig.Delay settings;
    private final int maxRunning;
    private int largestBatch;
    private boolean hasLeftOutFirst;
    private boolean isTriggered;
    private long sinceNanos = NONE;
    private int numDelayed;

    PrefillDelayer(SglangConfig.Delay settings, int maxRunning) {
        this.settings = settings;
        this.maxRunning = maxRunning;
    }

    /** Returns whether prompts are put off in this turn, if there are any, and unless few tokens are in use. */
    boolean delays(int numRunning, int numWaiting, long nowNanos) {
        isTriggered = maxRunning - numRunning < largestBatch || areTooFew(numRunning, numWaiting, nowNanos);
        return isTriggered && hasLeftOutFirst;
    }

    private boolean areTooFew(int numRunning, int numWaiting, long nowNanos) {
        int least = Math.min((int) (numRunning * settings.queueMinRatio()), largestBatch);
        boolean hasTimedOut = sinceNanos != NONE && nowNanos - sinceNanos >= settings.maxDelayNanos();
        return numWaiting < least && !hasTimedOut;
    }

    /** Returns whether prompts are put off in a turn in which not all ranks have some, and ends it. */
    boolean delaysForOthers(long nowNanos) {
        boolean isDelayed = numDelayed < settings.maxDelayPasses() - 1;
        count(isDelayed, nowNanos);
        return isDelayed;
    }

    /**
     * Ends a turn.
     *
     * @param isAsked whether there was a prompt that could have been computed, and no lack of use let it pass
     */
    void end(boolean isAsked, long nowNanos) {
        boolean isDelayed = isAsked && isTriggered && hasLeftOutFirst;
        hasLeftOutFirst |= isAsked && isTriggered;
        count(isDelayed, nowNanos);
    }

    private void count(boolean isDelayed, long nowNanos) {
        numDelayed = isDelayed ? numDelayed + 1 : 0;
        if (!isDelayed) {
            sinceNanos = NONE;
        } else if (sinceNanos == NONE) {
            sinceNanos = nowNanos;
        }
    }

    int largestBatch() {
        return largestBatch;
    }

    /** Records the size of a prefill batch. */
    void onBatch(int numRequests) {
        largestBatch = Math.max(largestBatch, numRequests);
    }
}
