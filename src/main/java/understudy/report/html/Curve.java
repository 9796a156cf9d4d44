package understudy.report.html;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Arrays;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import understudy.report.Figures;
import understudy.report.latency.LatencyStats;

/** Curve of a page, with as many digits as its picture needs. NaN and infinite values are gaps. */
public final class Curve {
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double[] PERCENTS =
            IntStream.rangeClosed(0, 200).mapToDouble(i -> i / 2.0).toArray();
    private static final MathContext OF_X = new MathContext(9);
    private static final MathContext OF_Y = new MathContext(5);

    private Curve() {}

    /** Returns a curve through points. */
    public static Figures of(double[] xs, double[] ys) {
        return add(xs, ys, new Figures());
    }

    /** Returns one of several curves, with its name. */
    public static Figures of(String name, double[] xs, double[] ys) {
        return add(xs, ys, new Figures().add("name", name));
    }

    /**
     * Returns the curve of how many latencies are below which, in milliseconds and percent: through their percentiles, in
     * steps of a half.
     *
     * @param nanos in any order
     */
    public static Figures ofQuantiles(DoubleStream nanos) {
        double[] millis = Arrays.stream(LatencyStats.percentiles(nanos.toArray(), PERCENTS))
                .map(each -> each / NANOS_PER_MILLI)
                .toArray();
        return of(millis, millis.length == 0 ? millis : PERCENTS);
    }

    /** Returns a bar for each of several labels. */
    public static Figures bars(double[] ys) {
        return new Figures().addList("ys", ys.length, i -> rounded(ys[i], OF_Y));
    }

    /** Returns one of several sets of bars, with its name. */
    public static Figures bars(String name, double[] ys) {
        return new Figures().add("name", name).addList("ys", ys.length, i -> rounded(ys[i], OF_Y));
    }

    private static Figures add(double[] xs, double[] ys, Figures to) {
        return to.addList("xs", xs.length, i -> rounded(xs[i], OF_X))
                .addList("ys", ys.length, i -> rounded(ys[i], OF_Y));
    }

    private static @Nullable BigDecimal rounded(double value, MathContext digits) {
        return Double.isFinite(value) ? new BigDecimal(value).round(digits).stripTrailingZeros() : null;
    }
}
