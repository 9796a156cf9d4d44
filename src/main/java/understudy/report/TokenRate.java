package understudy.report;

import it.unimi.dsi.fastutil.longs.LongArrayList;

/** Rate of output tokens: how many there were in each whole second of virtual time. */
public final class TokenRate {
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    private final LongArrayList seconds = new LongArrayList();
    private final LongArrayList counts = new LongArrayList();

    /** Reader of the tokens of a second, which begins at {@code startNanos}. */
    interface Reader {
        void read(long startNanos, long count);
    }

    /** Counts {@code count} tokens that were sampled at {@code atNanos}, which never goes back to an earlier second. */
    public void add(long atNanos, int count) {
        long second = atNanos / NANOS_PER_SECOND;
        int last = seconds.size() - 1;
        if (last >= 0 && seconds.getLong(last) == second) {
            counts.set(last, counts.getLong(last) + count);
        } else {
            seconds.add(second);
            counts.add(count);
        }
    }

    /** Returns the most tokens in any one second. */
    public long peak() {
        return counts.longStream().max().orElse(0);
    }

    /** Reads the seconds with tokens, in order. */
    void forEach(Reader reader) {
        for (int i = 0; i < seconds.size(); i++) {
            reader.read(seconds.getLong(i) * NANOS_PER_SECOND, counts.getLong(i));
        }
    }
}
