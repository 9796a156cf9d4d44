package understudy.latency;

/**
 * Time of a step's exchanges between GPUs: an all-reduce of all activations after attention and after the feed-forward part
 * of each layer among tensor-parallel GPUs, and of the sums of squares of norms over all heads; and around the experts of a layer the way of tokens to the other data-parallel
 * ranks, and back.
 */
public final class ExchangeTime {
    private static final double BYTES = 2;
    private static final double QK_NORM_BYTES = 2.0 * Float.BYTES;

    private final LlmSpec llm;
    private final Parallelism parallelism;
    private final GpuSpec.AllReduce link;
    private final double bytesPerToken;
    private final double gatherMicros;

    /** Describes the exchanges of a model over a link. */
    public ExchangeTime(LlmSpec llm, Parallelism parallelism, GpuSpec.AllReduce link) {
        this.llm = llm;
        this.parallelism = parallelism;
        this.link = link;
        bytesPerToken = BYTES * llm.hiddenSize();
        int gpus = parallelism.tensorParallelSize();
        gatherMicros = gpus == 1 ? 0 : link.micros(gpus, 0);
    }

    /** Returns the time of all layers' all-reduces. */
    public double allReduceMicros(double numTokens) {
        int gpus = parallelism.tensorParallelSize();
        if (gpus == 1) {
            return 0;
        }
        double norms = llm.attention().exchangesQkNorm(gpus) ? link.micros(gpus, QK_NORM_BYTES * numTokens) : 0;
        return 2.0 * llm.numLayers() * link.micros(gpus, bytesPerToken * numTokens) + llm.numAttentionLayers() * norms;
    }

    /** Returns the time of carrying a rank's tokens to the experts, and what they return, for the tokens of all ranks. */
    public double all2AllMicros(double numTokens, double numGroupTokens) {
        if (parallelism.dataParallelSize() == 1 || llm.numMoeLayers() == 0) {
            return 0;
        }
        double moved = parallelism.sendsToExpertsOnly()
                ? numTokens * numOtherGpusOfToken() / parallelism.tensorParallelSize()
                : numGroupTokens - numTokens;
        return 2.0 * llm.numMoeLayers() * link.movedMicros(moved * bytesPerToken);
    }

    private double numOtherGpusOfToken() {
        int gpus = parallelism.numExpertGpus();
        double missed = StrictMath.pow(1 - 1.0 / gpus, llm.feedForward().numExpertsPerToken());
        return (gpus - 1) * (1 - missed);
    }

    /** Returns the time of gathering logits. */
    public double gatherMicros() {
        return gatherMicros;
    }
}
