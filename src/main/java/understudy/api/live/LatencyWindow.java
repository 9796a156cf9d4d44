package understudy.api.live;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.HdrHistogram.Histogram;
import understudy.api.http.Json;

/** Percentiles of the latest values, to three digits: those of so many sampling intervals, the current one included. */
final class LatencyWindow {
    private static final int DIGITS = 3;

    private final Histogram[] intervals;
    private int current;

    LatencyWindow(int numIntervals) {
        intervals = new Histogram[numIntervals];
        for (int i = 0; i < numIntervals; i++) {
            intervals[i] = new Histogram(DIGITS);
        }
    }

    /** Adds a value that has occurred {@code count} times. */
    void add(long nanos, long count) {
        intervals[current].recordValueWithCount(Math.max(0, nanos), count);
    }

    /** Begins an interval, and forgets the oldest. */
    void next() {
        current = (current + 1) % intervals.length;
        intervals[current].reset();
    }

    /** Returns p50, p95 and p99 in seconds, or nulls if there were no values. */
    ObjectNode toJson() {
        var all = new Histogram(DIGITS);
        for (var interval : intervals) {
            all.add(interval);
        }
        var node = Json.object();
        for (int percentile : new int[] {50, 95, 99}) {
            String name = "p" + percentile;
            if (all.getTotalCount() == 0) {
                node.putNull(name);
            } else {
                node.put(name, all.getValueAtPercentile(percentile) / 1e9);
            }
        }
        return node;
    }
}
