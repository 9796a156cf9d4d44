package understudy.report.latency;

import java.util.Arrays;

/**
 * Exact statistics of a set of durations, in nanoseconds; all 0 when the set is empty. Percentiles interpolate linearly
 * between the two nearest ranks, and the standard deviation is that of the population, as NumPy does by default.
 *
 * @param count number of durations
 */
public record LatencyStats(
        long count,
        double meanNanos,
        double stddevNanos,
        double p50Nanos,
        double p90Nanos,
        double p95Nanos,
        double p99Nanos,
        double maxNanos) {

    private static final LatencyStats EMPTY = new LatencyStats(0, 0, 0, 0, 0, 0, 0, 0);

    /** Returns the statistics of {@code nanos}, which need not be sorted. */
    public static LatencyStats of(double[] nanos) {
        var sorted = sorted(nanos);
        return ofCounted(sorted, ranks(sorted.length));
    }

    /** Returns a percentile, from 0 to 100, of {@code nanos}, which need not be sorted; 0 if there are none. */
    public static double percentile(double[] nanos, double percent) {
        return nanos.length == 0 ? 0 : percentiles(nanos, new double[] {percent})[0];
    }

    private static double[] sorted(double[] nanos) {
        var sorted = nanos.clone();
        RadixSort.sort(sorted);
        return sorted;
    }

    private static long[] ranks(int count) {
        var ranks = new long[count];
        Arrays.setAll(ranks, i -> i + 1);
        return ranks;
    }

    /** Returns the statistics of the times from one event to another. */
    public static LatencyStats between(long[] startNanos, long[] endNanos) {
        var nanos = new double[startNanos.length];
        for (int i = 0; i < nanos.length; i++) {
            nanos[i] = endNanos[i] - startNanos[i];
        }
        return of(nanos);
    }

    /** Returns percentiles of {@code nanos}, which need not be sorted; none if there are no values. */
    public static double[] percentiles(double[] nanos, double[] percents) {
        var sorted = sorted(nanos);
        return percentiles(sorted, ranks(sorted.length), percents);
    }

    /**
     * Returns percentiles of values that occur several times; none if there are no values.
     *
     * @param ascending different or equal values, in ascending order
     * @param cumulated how often each of them, or one before it, occurs
     */
    public static double[] percentiles(double[] ascending, long[] cumulated, double[] percents) {
        return ascending.length == 0
                ? new double[0]
                : Arrays.stream(percents)
                        .map(percent -> percentile(ascending, cumulated, percent))
                        .toArray();
    }

    /**
     * Returns the statistics of values that occur several times.
     *
     * @param ascending different or equal values, in ascending order
     * @param cumulated how often each of them, or one before it, occurs
     */
    static LatencyStats ofCounted(double[] ascending, long[] cumulated) {
        if (ascending.length == 0) {
            return EMPTY;
        }
        double sum = 0;
        long count = 0;
        for (int i = 0; i < cumulated.length; i++) {
            sum += ascending[i] * (cumulated[i] - count);
            count = cumulated[i];
        }
        double mean = sum / count;
        double squares = 0;
        long below = 0;
        for (int i = 0; i < cumulated.length; i++) {
            double deviation = ascending[i] - mean;
            squares += deviation * deviation * (cumulated[i] - below);
            below = cumulated[i];
        }
        return new LatencyStats(
                count,
                mean,
                Math.sqrt(squares / count),
                percentile(ascending, cumulated, 50),
                percentile(ascending, cumulated, 90),
                percentile(ascending, cumulated, 95),
                percentile(ascending, cumulated, 99),
                ascending[ascending.length - 1]);
    }

    private static double percentile(double[] ascending, long[] cumulated, double percent) {
        double rank = percent / 100 * (cumulated[cumulated.length - 1] - 1);
        long below = (long) rank;
        double low = valueAt(ascending, cumulated, below);
        double high = valueAt(ascending, cumulated, (long) Math.ceil(rank));
        return low + (high - low) * (rank - below);
    }

    /** Returns the value with {@code rank} others before it. */
    private static double valueAt(double[] ascending, long[] cumulated, long rank) {
        int found = Arrays.binarySearch(cumulated, rank);
        return ascending[found >= 0 ? found + 1 : -found - 1];
    }
}
