package understudy.report;

/** Peak token rate: the most output tokens in any whole second of virtual time. */
public final class TokenRate {
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    private long second;
    private long numTokens;
    private long peak;

    /** Counts {@code count} tokens that were sampled at {@code atNanos}, which never goes back to an earlier second. */
    public void add(long atNanos, int count) {
        long secondOfTokens = atNanos / NANOS_PER_SECOND;
        if (secondOfTokens != second) {
            second = secondOfTokens;
            numTokens = 0;
        }
        numTokens += count;
        peak = Math.max(peak, numTokens);
    }

    /** Returns the most tokens in any one second. */
    public long peak() {
        return peak;
    }
}
