package understudy.latency.lora;

import understudy.latency.BatchShape;
import understudy.latency.GpuSpec;
import understudy.latency.LlmSpec;

/**
 * Time that LoRA adapters add to a step.
 *
 * <p>vLLM's worker loads what is missing before the step runs, and nothing else happens meanwhile ({@code
 * LRUCacheWorkerLoRAManager._apply_adapters} in {@code vllm/lora/worker_manager.py}). The rest is a formula that follows
 * from what its kernels read and compute, and not from measured ones: all kernels are launched as soon as one sequence has
 * an adapter, each adapter's weights are read once, and each token is multiplied with them.
 *
 * @param kernelsNanos of a step in which any sequence has an adapter
 * @param nanosPerAdapter for reading one
 * @param nanosPerToken for computing with it
 * @param loadNanos from disk to the host's memory
 * @param activationNanos from there to the GPU
 */
public record LoraCost(
        double kernelsNanos, double nanosPerAdapter, double nanosPerToken, double loadNanos, double activationNanos) {
    private static final double NANOS_PER_MICRO = 1e3;
    private static final int FLOP_PER_ELEMENT = 2;

    /**
     * Movement of adapters.
     *
     * @param rank of every adapter
     * @param kernelNanos fixed time of one kernel
     * @param loadNanos fixed time of a load from disk
     * @param diskGbPerSecond 10^9 bytes per second from there, above 0
     * @param activationNanos fixed time of a copy to the GPU
     * @param hostGbPerSecond 10^9 bytes per second over that way, above 0
     */
    public record Speeds(
            int rank,
            double kernelNanos,
            double loadNanos,
            double diskGbPerSecond,
            double activationNanos,
            double hostGbPerSecond) {}

    /** Returns the time of a stage with these layers on one of several GPUs. */
    public static LoraCost of(LlmSpec stage, GpuSpec gpu, int tensorParallelSize, Speeds speeds) {
        var size = AdapterSize.of(stage, tensorParallelSize);
        double bytes = size.bytes(speeds.rank);
        double wholeBytes = AdapterSize.of(stage, 1).bytes(speeds.rank);
        double flopPerToken = FLOP_PER_ELEMENT * size.elements() * speeds.rank;
        return new LoraCost(
                size.numKernels() * speeds.kernelNanos,
                bytes / (gpu.gemm().bandwidth() * gpu.bandwidthGbPerSecond()),
                NANOS_PER_MICRO * flopPerToken / gpu.gemmFlopPerMicro(),
                speeds.loadNanos + wholeBytes / speeds.diskGbPerSecond,
                speeds.activationNanos + bytes / speeds.hostGbPerSecond);
    }

    /** Returns the time of kernels in a step with these adapters. */
    public double computeNanos(BatchShape.Loras loras) {
        return loras.numAdapters() == 0
                ? 0
                : kernelsNanos + nanosPerAdapter * loras.numAdapters() + nanosPerToken * loras.numTokens();
    }

    /** Returns the time until these adapters are on the GPU. */
    public double loadingNanos(BatchShape.Loras loras) {
        return loadNanos * loras.numLoads() + activationNanos * loras.numActivations();
    }
}
