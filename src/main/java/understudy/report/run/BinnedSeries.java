package understudy.report.run;

import it.unimi.dsi.fastutil.doubles.DoubleArrayList;
import java.util.Arrays;
import understudy.report.Figures;
import understudy.report.html.Curve;

/**
 * Course of a value over a run: the largest value in each of at most 600 intervals. These are 1 ms long at first, and
 * twice as long whenever there would be too many. An interval begins after a time and ends with one.
 */
final class BinnedSeries {
    static final int MAX_BINS = 600;
    private static final long FIRST_NANOS = 1_000_000;
    private static final double NANOS_PER_SECOND = 1e9;

    private final DoubleArrayList maxima = new DoubleArrayList();
    private long widthNanos = FIRST_NANOS;
    private long endNanos;
    private double value;

    /** Returns the interval of a time, at least 0, when all of them are so long. */
    static long bin(long nanos, long widthNanos) {
        return Math.max(0, nanos - 1) / widthNanos;
    }

    /** Sets the value from a time on, which is not before the one of the last call. */
    void set(long nanos, double newValue) {
        end(nanos);
        value = newValue;
        int last = maxima.size() - 1;
        maxima.set(last, Math.max(maxima.getDouble(last), value));
    }

    /** Sets a count, of which a double holds any that there may be. */
    void set(long nanos, long count) {
        set(nanos, (double) count);
    }

    /** Adds to a count that only grows. */
    void add(long nanos, long more) {
        set(nanos, value + (double) more);
    }

    /** Ends the last interval, to which the value stays as it is. */
    void end(long nanos) {
        endNanos = Math.max(endNanos, nanos);
        while (bin(endNanos, widthNanos) >= MAX_BINS) {
            halve();
        }
        long last = bin(endNanos, widthNanos);
        while (maxima.size() <= last) {
            maxima.add(value);
        }
    }

    private void halve() {
        widthNanos *= 2;
        int size = maxima.size();
        for (int i = 0; i < size; i += 2) {
            maxima.set(i / 2, Math.max(maxima.getDouble(i), maxima.getDouble(Math.min(i + 1, size - 1))));
        }
        maxima.size((size + 1) / 2);
    }

    /** Returns the end of each interval, in seconds. */
    double[] seconds() {
        double[] seconds = new double[maxima.size()];
        Arrays.setAll(seconds, i -> endOf(i) / NANOS_PER_SECOND);
        return seconds;
    }

    private double endOf(int bin) {
        return Math.min(endNanos, (bin + 1) * widthNanos);
    }

    /** Returns the curve of the largest values. */
    Figures curve() {
        return Curve.of(seconds(), maxima());
    }

    /** Returns the curve of how fast a value that only grows has grown, in units of so many per second. */
    Figures curveOfRates(double unit) {
        return Curve.of(
                seconds(), Arrays.stream(rates()).map(rate -> rate / unit).toArray());
    }

    /** Returns the largest value of each interval. */
    double[] maxima() {
        return maxima.toDoubleArray();
    }

    /** Returns by how much a value that only grows has grown in each interval. */
    double[] increases() {
        double[] increases = maxima();
        for (int i = increases.length - 1; i > 0; i--) {
            increases[i] -= increases[i - 1];
        }
        return increases;
    }

    /** Returns by how much a value that only grows has grown per second in each interval. */
    double[] rates() {
        double[] rates = increases();
        for (int i = 0; i < rates.length; i++) {
            rates[i] *= NANOS_PER_SECOND / Math.max(1, endOf(i) - i * widthNanos);
        }
        return rates;
    }

    long widthNanos() {
        return widthNanos;
    }
}
