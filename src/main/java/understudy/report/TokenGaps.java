package understudy.report;

import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import java.util.Arrays;

/**
 * All inter-token gaps of a run, pooled over requests, exactly: how often each value occurred.
 *
 * <p>A long run has millions of different values, so they are packed in ascending order; new ones collect in a small map
 * that is merged into them from time to time.
 */
public final class TokenGaps {
    private static final int MIN_RECENT = 1 << 16;

    private final Long2LongOpenHashMap recent = new Long2LongOpenHashMap();
    private PackedCounts sorted = new PackedCounts(0);

    /** Counts {@code count} gaps of {@code value} nanoseconds each. */
    public void add(long value, long count) {
        recent.addTo(value, count);
        if (recent.size() >= MIN_RECENT && recent.size() >= sorted.size() / 8) {
            merge();
        }
    }

    /** Returns statistics over all gaps. */
    public LatencyStats stats() {
        merge();
        var values = new double[sorted.size()];
        var cumulated = new long[values.length];
        var reader = sorted.new Reader();
        long count = 0;
        for (int i = 0; reader.next(); i++) {
            count += reader.count();
            values[i] = reader.value();
            cumulated[i] = count;
        }
        return LatencyStats.ofCounted(values, cumulated);
    }

    private void merge() {
        long[] added = recent.keySet().toLongArray();
        Arrays.sort(added);
        var merged = new PackedCounts(sorted.numBytes() + 4 * added.length);
        var old = sorted.new Reader();
        boolean hasOld = old.next();
        int i = 0;
        while (hasOld || i < added.length) {
            boolean takesOld = i == added.length || (hasOld && old.value() <= added[i]);
            boolean takesNew = !hasOld || (i < added.length && added[i] <= old.value());
            long value = takesOld ? old.value() : added[i];
            merged.add(value, (takesOld ? old.count() : 0) + (takesNew ? recent.get(added[i++]) : 0));
            hasOld = takesOld ? old.next() : hasOld;
        }
        sorted = merged;
        recent.clear();
    }
}
