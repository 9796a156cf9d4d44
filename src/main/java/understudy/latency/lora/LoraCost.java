package understudy.latency.lora;

import understudy.latency.BatchShape;

/**
 * Time that LoRA adapters add to a step.
 *
 * <p>vLLM's worker loads what is missing before the step runs, and nothing else happens meanwhile ({@code
 * LRUCacheWorkerLoRAManager._apply_adapters} in {@code vllm/lora/worker_manager.py}).
 *
 * @param kernels that run while any sequence of a step has an adapter
 * @param loadNanos from disk to the host's memory
 * @param activationNanos from there to the GPU
 */
public record LoraCost(LoraKernels kernels, double loadNanos, double activationNanos) {

    /**
     * Movement of adapters.
     *
     * @param rank of every adapter
     * @param loadNanos fixed time of a load from disk
     * @param diskGbPerSecond 10^9 bytes per second from there, above 0
     * @param activationNanos time to ask for all copies to the GPU, which go on meanwhile
     * @param hostGbPerSecond 10^9 bytes per second over that way, above 0
     */
    public record Speeds(
            int rank, double loadNanos, double diskGbPerSecond, double activationNanos, double hostGbPerSecond) {}

    /**
     * Returns the cost of adapters of a rank.
     *
     * @param wholeAdapter size on all GPUs of a stage together, which each of them reads from disk
     */
    public static LoraCost of(LoraKernels kernels, AdapterSize wholeAdapter, Speeds speeds) {
        return new LoraCost(
                kernels,
                speeds.loadNanos + wholeAdapter.bytes(speeds.rank) / speeds.diskGbPerSecond,
                Math.max(speeds.activationNanos, kernels.size().bytes(speeds.rank) / speeds.hostGbPerSecond));
    }

    /** Returns the time until these adapters are on the GPU. */
    public double loadingNanos(BatchShape.Loras loras) {
        return loadNanos * loras.numLoads() + activationNanos * loras.numActivations();
    }
}
