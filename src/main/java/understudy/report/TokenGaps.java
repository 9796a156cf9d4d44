package understudy.report;

import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import java.util.Arrays;

/**
 * All inter-token gaps of a run, pooled over requests, exactly: how often each value occurred.
 *
 * <p>A long run has millions of different values, so they are kept in sorted arrays, 16 bytes each; new ones collect in
 * a small map that is merged into the arrays from time to time.
 */
public final class TokenGaps {
    private static final int MIN_RECENT = 1 << 16;

    private final Long2LongOpenHashMap recent = new Long2LongOpenHashMap();
    private long[] nanos = {};
    private long[] counts = {};

    /** Counts {@code count} gaps of {@code value} nanoseconds each. */
    public void add(long value, long count) {
        recent.addTo(value, count);
        if (recent.size() >= MIN_RECENT && recent.size() >= nanos.length / 8) {
            merge();
        }
    }

    /** Returns statistics over all gaps. */
    public LatencyStats stats() {
        merge();
        var values = new double[nanos.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = nanos[i];
        }
        return LatencyStats.ofCounted(values, counts);
    }

    private void merge() {
        long[] added = recent.keySet().toLongArray();
        Arrays.sort(added);
        var mergedNanos = new long[nanos.length + added.length];
        var mergedCounts = new long[mergedNanos.length];
        int size = 0;
        int i = 0;
        int j = 0;
        while (i < nanos.length || j < added.length) {
            boolean takesOld = j == added.length || (i < nanos.length && nanos[i] <= added[j]);
            boolean takesNew = i == nanos.length || (j < added.length && added[j] <= nanos[i]);
            mergedNanos[size] = takesOld ? nanos[i] : added[j];
            mergedCounts[size++] = (takesOld ? counts[i++] : 0) + (takesNew ? recent.get(added[j++]) : 0);
        }
        nanos = Arrays.copyOf(mergedNanos, size);
        counts = Arrays.copyOf(mergedCounts, size);
        recent.clear();
    }
}
