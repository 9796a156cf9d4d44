package understudy.report;

import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import java.util.Arrays;

/** All inter-token gaps of a run, pooled over requests, exactly: how often each value occurred. */
public final class TokenGaps {
    private final Long2LongOpenHashMap countByNanos = new Long2LongOpenHashMap();

    /** Counts {@code count} gaps of {@code nanos} each. */
    public void add(long nanos, long count) {
        countByNanos.addTo(nanos, count);
    }

    /** Returns statistics over all gaps. */
    public LatencyStats stats() {
        long[] nanos = countByNanos.keySet().toLongArray();
        Arrays.sort(nanos);
        var values = new double[nanos.length];
        var counts = new long[nanos.length];
        for (int i = 0; i < nanos.length; i++) {
            values[i] = nanos[i];
            counts[i] = countByNanos.get(nanos[i]);
        }
        return LatencyStats.ofCounted(values, counts);
    }
}
