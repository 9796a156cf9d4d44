package understudy.latency.tables;

import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.DoubleUnaryOperator;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Times of one layer's attention on one GPU: of prefills by their length, linear in the square root of the time, and of
 * decodes by their number and the mean of the tokens that they attend to.
 */
final class AttentionTable {
    private static final String BATCH = "batch_size";
    private static final String LENGTH = "isl";
    private static final String STEP = "step";
    private static final String HEADS = "num_heads";
    private static final String KV_HEADS = "num_key_value_heads";
    private static final String HEAD_DIM = "head_dim";
    private static final String KV_DTYPE = "kv_cache_dtype";
    private static final String WINDOW = "window_size";
    private static final String GEMM_DTYPE = "gemm_type";

    private final Curve prefillRoots;
    private final Grid decodes;
    private final DoubleUnaryOperator decodeSurplus;

    /**
     * Creates a table of measured times.
     *
     * @param decodeSurplus by which decodes were measured too long, by their number
     */
    AttentionTable(Curve prefills, Grid decodes, DoubleUnaryOperator decodeSurplus) {
        prefillRoots = prefills.map(Math::sqrt);
        this.decodes = decodes;
        this.decodeSurplus = decodeSurplus;
    }

    /**
     * A layer's attention on one GPU.
     *
     * @param kvDtype format of the KV cache
     * @param window tokens attended to, 0 for all
     */
    record Layer(double heads, double kvHeads, int headDim, String kvDtype, int window) {}

    /** Returns the time of a whole prompt. */
    double prefillMicros(double tokens) {
        double root = prefillRoots.applyAsDouble(tokens);
        return root * root;
    }

    /** Returns the share of a whole prompt's time that the pairs of its last tokens are. */
    double prefillMicros(double tokens, double context) {
        double all = context + tokens;
        double cached = context / all;
        return prefillMicros(all) * (1 - cached * cached);
    }

    /** Returns the time of so many decodes. */
    double decodeMicros(double sequences, double context) {
        return Math.max(0, decodes.micros(sequences, context) - decodeSurplus.applyAsDouble(sequences));
    }

    /** Returns the longest sequence that decodes were measured with. */
    int maxContext() {
        return decodes.maxLength();
    }

    /** Reads prefills, or returns null if there are none of the kind; other numbers of heads are scaled. */
    static @Nullable Curve prefills(Path file, Layer layer, double flopPerMicro) {
        var rows = Rows.read(file, Set.of(BATCH, LENGTH, HEADS, KV_HEADS, HEAD_DIM, KV_DTYPE, WINDOW));
        checkPeak(file, rows, flopPerMicro);
        var byHeads = new TreeMap<Double, Curve.Builder>();
        of(layer)
                .apply(rows)
                .where(BATCH, 1)
                .forEach(row -> byHeads.computeIfAbsent(row.number(HEADS), heads -> new Curve.Builder())
                        .add(row.number(LENGTH), row.micros()));
        if (byHeads.isEmpty()) {
            return null;
        }
        var nearest = nearest(byHeads, layer.heads);
        return nearest.getValue().build().map(micros -> micros * layer.heads / nearest.getKey());
    }

    /** Reads decodes, or returns null if there are none of the kind; other numbers of heads read the same KV cache. */
    static @Nullable Grid decodes(Path file, Layer layer) {
        var rows = Rows.read(file, Set.of(BATCH, STEP, HEADS, KV_HEADS, HEAD_DIM, KV_DTYPE, WINDOW));
        var byHeads = new TreeMap<Double, Map<Double, Curve.Builder>>();
        of(layer)
                .apply(rows)
                .forEach(row -> byHeads.computeIfAbsent(row.number(HEADS), heads -> new TreeMap<>())
                        .computeIfAbsent(row.number(BATCH), batch -> new Curve.Builder())
                        // The new token attends to itself, too.
                        .add(row.number(STEP) + 1, row.micros()));
        return byHeads.isEmpty() ? null : grid(nearest(byHeads, layer.heads).getValue());
    }

    /** Reads prefills of whole layers of latent attention, or returns null if there are none of the kind. */
    static @Nullable Curve latentPrefills(Path file, double heads, String kvDtype, String gemmDtype) {
        return latent(file, heads, kvDtype, gemmDtype)
                .where(BATCH, 1)
                .where(STEP, 0)
                .curve(LENGTH);
    }

    /** Reads the kernels of latent attention's decodes, or returns null if there are none of the kind. */
    static @Nullable Grid latentDecodes(Path file, double heads, String kvDtype) {
        var byBatch = new TreeMap<Double, Curve.Builder>();
        Rows.read(file, Set.of(BATCH, STEP, HEADS, KV_DTYPE))
                .where(HEADS, heads)
                .where(KV_DTYPE, kvDtype)
                .forEach(row -> byBatch.computeIfAbsent(row.number(BATCH), batch -> new Curve.Builder())
                        .add(row.number(STEP) + 1, row.micros()));
        return grid(byBatch);
    }

    /** Reads decodes of whole layers of latent attention, or returns null if there are none of the kind. */
    static @Nullable Grid latentDecodes(Path file, double heads, String kvDtype, String gemmDtype) {
        var byBatch = new TreeMap<Double, Curve.Builder>();
        latent(file, heads, kvDtype, gemmDtype)
                .forEach(row -> byBatch.computeIfAbsent(row.number(BATCH), batch -> new Curve.Builder())
                        .add(row.number(STEP), row.micros()));
        return grid(byBatch);
    }

    private static Rows latent(Path file, double heads, String kvDtype, String gemmDtype) {
        return Rows.read(file, Set.of(BATCH, LENGTH, STEP, HEADS, KV_DTYPE, GEMM_DTYPE))
                .where(HEADS, heads)
                .where(KV_DTYPE, kvDtype)
                .where(GEMM_DTYPE, gemmDtype);
    }

    private static UnaryOperator<Rows> of(Layer layer) {
        return rows -> rows.where(KV_HEADS, layer.kvHeads)
                .where(HEAD_DIM, layer.headDim)
                .where(WINDOW, layer.window)
                .where(KV_DTYPE, layer.kvDtype);
    }

    private static void checkPeak(Path file, Rows rows, double flopPerMicro) {
        var check = new PeakCheck(file, flopPerMicro);
        rows.where(WINDOW, 0).forEach(row -> {
            double tokens = row.number(LENGTH);
            double elements = row.number(BATCH) * row.number(HEADS) * row.number(HEAD_DIM);
            check.add(2 * elements * tokens * tokens, row.micros());
        });
        check.finish();
    }

    private static @Nullable Grid grid(Map<Double, Curve.Builder> byBatch) {
        var curves = new TreeMap<Double, Curve>();
        byBatch.forEach((batch, curve) -> curves.put(batch, curve.build()));
        return curves.size() < 2 ? null : new Grid(curves);
    }

    private static <T> Map.Entry<Double, T> nearest(Map<Double, T> byHeads, double heads) {
        return byHeads.entrySet().stream()
                .min(Comparator.comparingDouble(entry -> Math.abs(entry.getKey() - heads)))
                .orElseThrow();
    }
}
