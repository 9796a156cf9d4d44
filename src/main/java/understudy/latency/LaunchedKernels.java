package understudy.latency;

import org.jspecify.annotations.Nullable;
import understudy.latency.LlmSpec.Indexer;
import understudy.latency.LlmSpec.LatentAttention;
import understudy.latency.LlmSpec.LinearAttention;

/**
 * Number of kernels in the layers of a step that is in no CUDA graph, each of which the host launches for itself.
 * They are counted in SGLang 0.5.9 ({@code models/deepseek_v2.py}, {@code models/qwen3_5.py}, {@code nsa_indexer.py}, {@code
 * fla/chunk.py}); those of vLLM, and those of decodes, are taken to be as many. A product in FP8 or FP4 has one more kernel, which quantizes its
 * inputs. What GPUs exchange counts with the norm behind it, as engines fuse the two where they can.
 */
public final class LaunchedKernels {
    /** Rotation, writing keys and values, and attention. */
    private static final int ATTENTION = 3;

    /** The same, two norms, and two copies that put keys and queries together. */
    private static final int LATENT_ATTENTION = 7;

    /** Norm, rotation, copy, Hadamard transform, quantization and writing of an indexer's keys. */
    private static final int KEYS_OF_INDEXER = 6;

    /**
     * Copy, Hadamard transform and quantization of its queries, scaling of their weights, gathering keys and their scales,
     * weighing and choosing.
     */
    private static final int CHOICE = 8;

    /**
     * Taking apart, which sequences have a state, convolution, gates, three copies of queries, keys and values, two norms of
     * these, seven kernels of a chunk, and the gated norm.
     */
    private static final int LINEAR_ATTENTION = 17;

    /** Choosing and sorting, twice two for the products, activation, and sum. */
    private static final int SORTING_AND_SUM = 5;

    private final int perStep;
    private final int perChoice;
    private final @Nullable Indexer indexer;

    /** Counts them. */
    public LaunchedKernels(LlmSpec llm, Parallelism parallelism, StepExecution execution) {
        int product = perProduct(llm.weights());
        var latent = llm.attention().latent();
        int attention = latent == null ? attention(llm, product, parallelism) : latent(latent, product);
        var ffn = llm.feedForward();
        int dense = 2 * product + 1;
        int shared = ffn.sharedExpertSize() == 0 || execution.fusesSharedExperts(llm, parallelism) ? 0 : dense + 1;
        int gate = ffn.gatesSharedExpert() ? 3 : 0;
        int router = ffn.routesInFp32() ? 2 : 1;
        int experts = router + SORTING_AND_SUM + 2 * perProduct(llm.expertWeights()) + shared + gate;
        perStep = 2 * llm.numLayers()
                + llm.numAttentionLayers() * attention
                + llm.numLinearLayers() * linear(llm.linearAttention(), product)
                + ffn.numDenseLayers() * dense
                + llm.numMoeLayers() * experts;
        indexer = latent == null ? null : latent.indexer();
        perChoice = llm.numAttentionLayers() * (product + 1 + CHOICE);
    }

    /** A norm over all heads of several GPUs has sums of squares and their exchange before it. */
    private static int attention(LlmSpec llm, int product, Parallelism parallelism) {
        var attention = llm.attention();
        int norm = attention.exchangesQkNorm(parallelism.tensorParallelSize()) ? 3 : attention.hasQkNorm() ? 1 : 0;
        return 2 * product + ATTENTION + norm + (attention.hasOutputGate() ? 1 : 0);
    }

    private static int latent(LatentAttention latent, int product) {
        int ofIndexer = latent.indexer() == null ? 0 : product + KEYS_OF_INDEXER;
        return 4 * product + LATENT_ATTENTION + ofIndexer;
    }

    /** The small product for the gates is not quantized. */
    private static int linear(@Nullable LinearAttention attention, int product) {
        return attention == null ? 0 : 2 * product + 1 + LINEAR_ATTENTION;
    }

    private static int perProduct(WeightFormat weights) {
        return weights.quantizesActivations() ? 2 : 1;
    }

    /** Returns their number for a batch, in which an indexer chooses for decodes, and if any chunk is long enough. */
    int count(BatchShape batch) {
        return indexer != null && hasChoice(batch, indexer) ? perStep + perChoice : perStep;
    }

    private static boolean hasChoice(BatchShape batch, Indexer indexer) {
        if (batch.numDecodes() > 0) {
            return true;
        }
        for (int i = 0; i < batch.numChunks(); i++) {
            if (indexer.chooses(batch.chunkTokens(i), batch.chunkContextTokens(i))) {
                return true;
            }
        }
        return false;
    }
}
