package understudy.report;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.LongArrayList;

/** Number of replicas that take requests, over the time of a run. */
public final class ReadyReplicas {
    private final LongArrayList changeNanos = new LongArrayList();
    private final IntArrayList counts = new IntArrayList();

    /** Records how many there are from {@code atNanos} on, which never goes back. */
    public void add(long atNanos, int count) {
        changeNanos.add(atNanos);
        counts.add(count);
    }

    /** Returns the fewest at a time, from {@code startNanos} until before {@code endNanos}; 0 if nothing is known. */
    int fewest(long startNanos, long endNanos) {
        int fewest = Integer.MAX_VALUE;
        for (int i = counts.size() - 1; i >= 0; i--) {
            boolean lasts = i + 1 == counts.size() || changeNanos.getLong(i + 1) > startNanos;
            if (lasts && changeNanos.getLong(i) < endNanos) {
                fewest = Math.min(fewest, counts.getInt(i));
            }
        }
        return fewest == Integer.MAX_VALUE ? 0 : fewest;
    }
}
