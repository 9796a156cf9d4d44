package understudy.latency;

import java.util.Locale;

/**
 * KV blocks that fit beside the weights, as vLLM finds out at its start. vLLM also measures peak activations and CUDA
 * graphs there; here these are a reserve of 1.2 GiB, and more with a large token budget.
 *
 * @param budgetBytes memory of a GPU that vLLM may use: {@code gpu_memory_utilization} of it
 * @param weightBytes weights on one GPU
 * @param reserveBytes activations, CUDA graphs and the rest
 * @param loraBytes slots of LoRA adapters on one GPU
 * @param stateBytes states of linear attention on one GPU that have memory of their own
 * @param bytesPerBlock of one KV block on one GPU
 */
public record KvCapacity(
        double budgetBytes,
        double weightBytes,
        double reserveBytes,
        double loraBytes,
        double stateBytes,
        double bytesPerBlock) {
    private static final double GIB = 1 << 30;
    private static final double RESERVE_GIB = 1.2;
    private static final double GIB_PER_BATCHED_TOKEN = 0.25 / (8192 - 2048);
    private static final int SMALL_BATCH = 2048;

    /**
     * Returns the memory of one of several GPUs.
     *
     * @param bytesPerKvElement 2, or 1 with an FP8 KV cache
     * @param utilization share of the memory that may be used
     * @param maxNumBatchedTokens token budget of a step
     * @param blockSize tokens per block
     * @param layersPerBlock how many layers share a block: all, or those of a group
     * @param loraBytes slots of LoRA adapters on one GPU
     */
    public static KvCapacity of(
            LlmSpec llm,
            GpuSpec gpu,
            Parallelism parallelism,
            double bytesPerKvElement,
            double utilization,
            int maxNumBatchedTokens,
            int blockSize,
            int layersPerBlock,
            double loraBytes) {
        double reserveGib = RESERVE_GIB + GIB_PER_BATCHED_TOKEN * Math.max(0, maxNumBatchedTokens - SMALL_BATCH);
        return new KvCapacity(
                utilization * gpu.memoryGib() * GIB,
                llm.weightBytesPerRank(parallelism),
                reserveGib * GIB,
                loraBytes,
                0,
                blockSize
                        * llm.kvBytesPerTokenPerRank(
                                layersPerBlock, parallelism.tensorParallelSize(), bytesPerKvElement));
    }

    /** Returns the same GPU, of whose memory a share is for weights, states and blocks alone. */
    public KvCapacity ofStaticShare(double share, GpuSpec gpu, double newStateBytes) {
        return new KvCapacity(share * gpu.memoryGib() * GIB, weightBytes, 0, 0, newStateBytes, bytesPerBlock);
    }

    /** Returns the same GPU without states that have memory of their own. */
    public KvCapacity withoutStates() {
        return new KvCapacity(budgetBytes, weightBytes, reserveBytes, loraBytes, 0, bytesPerBlock);
    }

    /** Returns the blocks, 0 if not even the weights fit. */
    public long numGpuBlocks() {
        return (long) Math.max(0, Math.floor(bytesForBlocks() / bytesPerBlock));
    }

    private double bytesForBlocks() {
        return budgetBytes - weightBytes - reserveBytes - loraBytes - stateBytes;
    }

    /** Returns the sum in words, per GPU. */
    public String reason() {
        return String.format(
                Locale.ROOT,
                "%.2f GiB usable - %.2f GiB weights - %.2f GiB reserve%s%s = %.2f GiB for blocks of %.0f KiB",
                budgetBytes / GIB,
                weightBytes / GIB,
                reserveBytes / GIB,
                unlessNone(" - %.2f GiB LoRA slots", loraBytes),
                unlessNone(" - %.2f GiB states", stateBytes),
                bytesForBlocks() / GIB,
                bytesPerBlock / 1024);
    }

    private static String unlessNone(String format, double bytes) {
        return bytes == 0 ? "" : String.format(Locale.ROOT, format, bytes / GIB);
    }
}
