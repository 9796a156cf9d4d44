package understudy.latency.tables;

import it.unimi.dsi.fastutil.doubles.Double2ObjectAVLTreeMap;
import java.util.Arrays;
import java.util.function.DoubleUnaryOperator;

/**
 * Measured times by one number, such as tokens: linear between two points, as the first below it, and proportional to
 * the number beyond the last.
 */
final class Curve implements DoubleUnaryOperator {
    private final double[] xs;
    private final double[] micros;

    private Curve(double[] xs, double[] micros) {
        this.xs = xs;
        this.micros = micros;
    }

    /** Collects points; equal ones are averaged. */
    static final class Builder {
        private final Double2ObjectAVLTreeMap<double[]> sums = new Double2ObjectAVLTreeMap<>();

        void add(double x, double micros) {
            var sum = sums.computeIfAbsent(x, key -> new double[2]);
            sum[0] += micros;
            sum[1]++;
        }

        boolean isEmpty() {
            return sums.isEmpty();
        }

        /** Returns the curve; there must be a point. */
        Curve build() {
            var micros =
                    sums.values().stream().mapToDouble(sum -> sum[0] / sum[1]).toArray();
            return new Curve(sums.keySet().toDoubleArray(), micros);
        }
    }

    /** Returns a curve without spikes: no point is above {@code factor} times the next one. */
    Curve smoothed(double factor) {
        var smooth = micros.clone();
        for (int i = smooth.length - 2; i >= 0; i--) {
            smooth[i] = Math.min(smooth[i], factor * smooth[i + 1]);
        }
        return new Curve(xs, smooth);
    }

    /** Returns the curve of the points below a limit, at least the first. */
    Curve below(double limit) {
        int length = Math.max(1, (int) Arrays.stream(xs).filter(x -> x < limit).count());
        return new Curve(Arrays.copyOf(xs, length), Arrays.copyOf(micros, length));
    }

    /** Returns a curve with other times at the same points. */
    Curve map(DoubleUnaryOperator change) {
        return new Curve(xs, Arrays.stream(micros).map(change).toArray());
    }

    double[] xs() {
        return xs;
    }

    double max() {
        return xs[xs.length - 1];
    }

    @Override
    public double applyAsDouble(double x) {
        int last = xs.length - 1;
        if (x <= xs[0]) {
            return micros[0];
        }
        return x > xs[last] ? micros[last] * x / xs[last] : along(x);
    }

    /** Returns the time beyond the last point on the line through the last two, and within as ever. */
    double onLastSlope(double x) {
        return x > max() && xs.length > 1 ? along(x) : applyAsDouble(x);
    }

    private double along(double x) {
        int low = Axis.segment(xs, x);
        return micros[low] + (micros[low + 1] - micros[low]) * Axis.share(xs, low, x);
    }
}
