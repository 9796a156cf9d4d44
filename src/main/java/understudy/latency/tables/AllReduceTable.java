package understudy.latency.tables;

import java.util.Set;
import java.util.function.DoubleUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Times of an engine's all-reduce between some GPUs, by elements of two bytes.
 *
 * @param graph within a CUDA graph, as small steps are run
 * @param eager launched one by one
 */
record AllReduceTable(Curve graph, Curve eager) {
    private static final String GPUS = "num_gpus";
    private static final String BACKEND = "backend";
    private static final String ELEMENTS = "message_size";
    private static final double SPIKE = 1.05;

    /** Reads the rows of so many GPUs, or returns null if there are none. */
    static @Nullable AllReduceTable read(TableFile file, int numGpus) {
        var rows = Rows.read(file.path(), Set.of(GPUS, BACKEND, ELEMENTS));
        if (!rows.has(BACKEND)) {
            return null;
        }
        var wanted = rows.where(GPUS, numGpus);
        var graph = wanted.where(BACKEND, file.engine() + "_graph").curve(ELEMENTS);
        var eager = wanted.where(BACKEND, file.engine() + "_eager").curve(ELEMENTS);
        return graph == null || eager == null ? null : new AllReduceTable(smooth(graph), smooth(eager));
    }

    /** Returns an exchange of so many elements for each token. */
    Kernel kernel(String part, double count, double elementsPerToken) {
        return new Kernel(
                part,
                count,
                tokens -> graph.applyAsDouble(tokens * elementsPerToken),
                tokens -> eager.applyAsDouble(tokens * elementsPerToken));
    }

    /**
     * Returns exchanges with the norm behind each.
     *
     * @param fusion which of them are one kernel
     * @param norm time of a norm by itself, by tokens
     */
    Kernel kernelWithNorm(
            String part, double count, double elementsPerToken, NormFusion fusion, DoubleUnaryOperator norm) {
        return new Kernel(
                part,
                count,
                fusion.withNorm(fusion.oneShot(graph), graph, norm, elementsPerToken),
                fusion.withNorm(eager, eager, norm, elementsPerToken));
    }

    static Curve smooth(Curve curve) {
        return curve.smoothed(SPIKE);
    }
}
