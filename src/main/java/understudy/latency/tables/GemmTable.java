package understudy.latency.tables;

import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.DoubleUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Times of linear layers of one format, by tokens m, outputs n and inputs k: linear in each, which is exact for a product
 * of n and k, and proportional beyond the last n or k. A pair of n and k that is missing takes the place of the next
 * smaller n, in proportion.
 */
final class GemmTable {
    /** Rows one above a multiple of 256 take that much longer on Hopper. */
    private static final double SPIKE = 1.3;

    /** FP8 products of Blackwell have no such rows. */
    private static final double BLACKWELL_FP8_SPIKE = 1.05;

    private final double[] ns;
    private final double[] ks;
    /** By n and k, in the order of both. */
    private final Curve[][] curves;

    private GemmTable(Map<Double, Map<Double, Curve.Builder>> builders, double spike) {
        ns = builders.keySet().stream().mapToDouble(Double::doubleValue).toArray();
        ks = builders.values().stream()
                .flatMapToDouble(row -> row.keySet().stream().mapToDouble(Double::doubleValue))
                .distinct()
                .sorted()
                .toArray();
        curves = new Curve[ns.length][ks.length];
        int i = 0;
        for (var row : builders.values()) {
            for (int j = 0; j < ks.length; j++) {
                var builder = row.get(ks[j]);
                curves[i][j] =
                        builder == null ? fromSmaller(i, j) : builder.build().smoothed(spike);
            }
            i++;
        }
    }

    /** Reads the rows of a format, or returns null if there are none. */
    static @Nullable GemmTable read(Path file, String dtype, GpuData gpu) {
        var builders = new TreeMap<Double, Map<Double, Curve.Builder>>();
        var rows = Rows.read(file, Set.of("gemm_dtype", "m", "n", "k")).where("gemm_dtype", dtype);
        var check = new PeakCheck(file, gpu.flopPerMicro(dtype));
        rows.forEach(row -> {
            double m = row.number("m");
            double n = row.number("n");
            double k = row.number("k");
            check.add(2 * m * n * k, row.micros());
            builders.computeIfAbsent(n, key -> new TreeMap<>())
                    .computeIfAbsent(k, key -> new Curve.Builder())
                    .add(m, row.micros());
        });
        check.finish();
        double spike = gpu.isBlackwell() && dtype.equals(Dtypes.FP8) ? BLACKWELL_FP8_SPIKE : SPIKE;
        return builders.size() < 2 ? null : new GemmTable(builders, spike);
    }

    private Curve fromSmaller(int i, int j) {
        if (i == 0) {
            throw new RejectedTableException("it has no time of n = " + ns[i] + " with k = " + ks[j]);
        }
        double scale = ns[i] / ns[i - 1];
        return curves[i - 1][j].map(micros -> micros * scale);
    }

    /** Returns the most tokens that layers were measured with. */
    double maxTokens() {
        return curves[0][0].max();
    }

    /** Returns the time by m of a layer from {@code k} inputs to {@code n} outputs. */
    DoubleUnaryOperator layer(double n, double k) {
        int i = Axis.segment(ns, n);
        int j = Axis.segment(ks, k);
        double beyond = Math.max(1, n / ns[ns.length - 1]) * Math.max(1, k / ks[ks.length - 1]);
        double atN = within(Axis.share(ns, i, n));
        double atK = within(Axis.share(ks, j, k));
        return m -> {
            double low = blend(atK, curves[i][j], curves[i][j + 1], m);
            return beyond * blend(atN, low, blend(atK, curves[i + 1][j], curves[i + 1][j + 1], m));
        };
    }

    private static double blend(double share, Curve low, Curve high, double m) {
        return blend(share, low.applyAsDouble(m), high.applyAsDouble(m));
    }

    private static double blend(double share, double low, double high) {
        return low + (high - low) * share;
    }

    private static double within(double share) {
        return Math.min(1, Math.max(0, share));
    }
}
