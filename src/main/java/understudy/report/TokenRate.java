package understudy.report;

import it.unimi.dsi.fastutil.longs.LongArrayList;

/** Output tokens per whole second of virtual time. */
public final class TokenRate {
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    private final LongArrayList tokensBySecond = new LongArrayList();

    /** Counts {@code numTokens} that were sampled at {@code atNanos}. */
    public void add(long atNanos, int numTokens) {
        int second = Math.toIntExact(atNanos / NANOS_PER_SECOND);
        if (second >= tokensBySecond.size()) {
            tokensBySecond.size(second + 1);
        }
        tokensBySecond.set(second, tokensBySecond.getLong(second) + numTokens);
    }

    /** Returns the most tokens in any one second. */
    public long peak() {
        long peak = 0;
        for (int i = 0; i < tokensBySecond.size(); i++) {
            peak = Math.max(peak, tokensBySecond.getLong(i));
        }
        return peak;
    }
}
