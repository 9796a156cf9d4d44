package understudy.latency.tables;

import java.nio.file.Path;
import java.util.Set;
import java.util.function.DoubleUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Times of vLLM's all-reduce between some GPUs, by elements of two bytes.
 *
 * @param graph within a CUDA graph, as small steps are run
 * @param eager launched one by one
 */
record AllReduceTable(Curve graph, Curve eager) {
    private static final String ELEMENTS = "message_size";
    private static final double SPIKE = 1.05;
    private static final int MAX_GRAPH_TOKENS = 512;

    /** Reads the rows of so many GPUs, or returns null if there are none. */
    static @Nullable AllReduceTable read(Path file, int numGpus) {
        var rows = Rows.read(file, Set.of("num_gpus", "backend", ELEMENTS)).where("num_gpus", numGpus);
        var graph = rows.where("backend", "vllm_graph").curve(ELEMENTS);
        var eager = rows.where("backend", "vllm_eager").curve(ELEMENTS);
        return graph == null || eager == null ? null : new AllReduceTable(smooth(graph), smooth(eager));
    }

    /** Returns the time by tokens of an exchange of so many elements for each. */
    DoubleUnaryOperator kernel(double elementsPerToken) {
        return tokens -> (tokens <= MAX_GRAPH_TOKENS ? graph : eager).applyAsDouble(tokens * elementsPerToken);
    }

    static Curve smooth(Curve curve) {
        return curve.smoothed(SPIKE);
    }
}
