package understudy.describe;

import it.unimi.dsi.fastutil.ints.Int2LongOpenHashMap;
import java.util.Arrays;
import understudy.report.latency.LatencyStats;

/** Counts of whole numbers, in memory that grows with the different ones. */
final class ValueCounts {
    static final double[] PERCENTS = {0, 10, 50, 90, 99, 100};

    private final Int2LongOpenHashMap counts = new Int2LongOpenHashMap();
    private long number;
    private double sum;

    void add(int value) {
        counts.addTo(value, 1);
        number++;
        sum += value;
    }

    /** Adds a number of at least 0 of which three digits matter, so that there are few different ones. */
    void addRounded(long value) {
        long unit = 1;
        while (value / unit >= 1000) {
            unit *= 10;
        }
        add((int) Math.min(Integer.MAX_VALUE, (value + unit / 2) / unit * unit));
    }

    long number() {
        return number;
    }

    double sum() {
        return sum;
    }

    double mean() {
        return number == 0 ? 0 : sum / number;
    }

    /** Returns percentiles with linear interpolation; none if there are no numbers. */
    double[] percentiles(double... percents) {
        int[] values = counts.keySet().toIntArray();
        Arrays.sort(values);
        var ascending = new double[values.length];
        var cumulated = new long[values.length];
        long below = 0;
        for (int i = 0; i < values.length; i++) {
            below += counts.get(values[i]);
            ascending[i] = values[i];
            cumulated[i] = below;
        }
        return LatencyStats.percentiles(ascending, cumulated, percents);
    }
}
