package understudy.api.live;

import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

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

    /** In seconds; nulls if there were no values. */
    record Percentiles(
            @Nullable Double p50,
            @Nullable Double p95,
            @Nullable Double p99) {}

    Percentiles percentiles() {
        var all = new Histogram(DIGITS);
        for (var interval : intervals) {
            all.add(interval);
        }
        return new Percentiles(seconds(all, 50), seconds(all, 95), seconds(all, 99));
    }

    private static @Nullable Double seconds(Histogram values, double percentile) {
        return values.getTotalCount() == 0 ? null : Double.valueOf(values.getValueAtPercentile(percentile) / 1e9);
    }
}
