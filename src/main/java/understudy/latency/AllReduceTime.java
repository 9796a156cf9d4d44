package understudy.latency;

/**
 * Time of the exchanges of a step between the GPUs of a tensor-parallel group: a ring all-reduce of all activations
 * after attention and after the feed-forward part of each layer.
 */
public final class AllReduceTime {
    /** One GPU has nothing to exchange. */
    public static final AllReduceTime NONE = new AllReduceTime(0, 0, 0);

    private static final double BYTES = 2;

    private final double perStepMicros;
    private final double perTokenMicros;
    private final double gatherMicros;

    private AllReduceTime(double perStepMicros, double perTokenMicros, double gatherMicros) {
        this.perStepMicros = perStepMicros;
        this.perTokenMicros = perTokenMicros;
        this.gatherMicros = gatherMicros;
    }

    /** Returns the exchange of a model among so many GPUs. */
    public static AllReduceTime of(LlmSpec llm, GpuSpec gpu, int tensorParallelSize) {
        if (tensorParallelSize == 1) {
            return NONE;
        }
        double bytesPerToken = 2.0 * (tensorParallelSize - 1) / tensorParallelSize * BYTES * llm.hiddenSize();
        double overhead = gpu.allReduce().overheadMicros();
        return new AllReduceTime(
                2.0 * llm.numLayers() * overhead,
                2.0 * llm.numLayers() * bytesPerToken / gpu.busBytesPerMicro(),
                overhead);
    }

    /** Returns the time of all layers' exchanges. */
    public double micros(double numTokens) {
        return perStepMicros + perTokenMicros * numTokens;
    }

    /** Returns the time of gathering logits. */
    public double gatherMicros() {
        return gatherMicros;
    }
}
