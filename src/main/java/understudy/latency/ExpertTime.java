package understudy.latency;

/**
 * Time of a layer's routed experts on the busiest GPU, by the tokens of all ranks that share them: tokens are sorted by
 * expert, two products compute them, between which they are activated, and what a token's experts return is added up
 * (vLLM {@code fused_moe.py}).
 *
 * <p>With expert parallelism, products read some experts and compute their tokens. Sorting, activation and sum go over
 * the rows of all tokens, as vLLM marks the rows of others' experts and leaves them in place; only where tokens are sent
 * to their experts alone do they go over those.
 */
final class ExpertTime {
    private static final double BYTES = 2;

    private final GpuSpec.ExpertKernels kernels;
    private final ExpertLoad load;
    private final Gemm up;
    private final Gemm down;
    private final double fixedMicros;
    private final double routedMicros;
    private final double sumMicros;
    private final boolean hasOwnRowsAlone;

    /** Describes the experts of a model, which may have none. */
    ExpertTime(LlmSpec llm, GpuSpec gpu, Parallelism parallelism) {
        var ffn = llm.feedForward();
        var format = llm.expertWeights();
        kernels = gpu.experts().kernels(format, parallelism.enablesExpertParallel());
        load = new ExpertLoad(llm, parallelism, gpu.experts().skew());
        double width = ffn.expertSize() * parallelism.shareOfWidth();
        double perToken = ffn.numExpertsPerToken() * parallelism.shareOfExperts();
        up = Gemm.ofExperts(gpu, kernels, format, perToken, ffn.numUpMatrices() * width, llm.hiddenSize());
        down = Gemm.ofExperts(gpu, kernels, format, perToken, llm.hiddenSize(), width);
        fixedMicros = kernels.overheadMicros() + kernels.microsPerExpert() * ffn.numExperts();
        hasOwnRowsAlone = parallelism.sendsToExpertsOnly();
        double bytesPerMicro = kernels.routedBandwidth() * gpu.bytesPerMicro();
        double rows = hasOwnRowsAlone ? perToken : ffn.numExpertsPerToken();
        // The activation reads both halves, or the one, and writes one; the sum reads a row of each expert.
        routedMicros = BYTES * rows * ((ffn.numUpMatrices() + 1) * width + llm.hiddenSize()) / bytesPerMicro;
        sumMicros = BYTES * llm.hiddenSize() / bytesPerMicro;
    }

    /** Returns the time for so many tokens of all ranks. */
    double micros(double numGroupTokens) {
        double tokens = load.balancedTokens(numGroupTokens);
        double inUse = load.expertsInUse(numGroupTokens);
        double computed = load.computedTokens(tokens, inUse, kernels.idleRows());
        return fixedMicros
                + up.micros(tokens, computed, inUse)
                + down.micros(tokens, computed, inUse)
                + routedMicros * (hasOwnRowsAlone ? tokens : numGroupTokens)
                + sumMicros * numGroupTokens;
    }
}
