package understudy.scenario;

import java.util.Optional;
import understudy.latency.KvCapacity;
import understudy.settings.Section;

/**
 * Memory of each GPU of a deployment, and what KV blocks have to leave room for.
 *
 * @param reservedTokens token budget of a step
 * @param blockSize tokens per block
 * @param hasGroups whether layers of a kind share blocks
 * @param loraBytes slots of LoRA adapters on one GPU
 */
record KvMemory(Deployment deployment, int reservedTokens, int blockSize, boolean hasGroups, double loraBytes) {
    private static final int DEFAULT_BLOCKS = 29_000;

    static KvMemory of(Deployment deployment, EngineSettings engine) {
        return new KvMemory(
                deployment,
                engine.reservedTokens(),
                engine.kvCache().blockSize(),
                engine.kvCache().groups() != null,
                engine.lora().slotBytes());
    }

    /** Returns the blocks that fit, or the default without model or GPU. */
    int numGpuBlocks(Section kvCache) {
        var capacity = capacity();
        if (capacity.isPresent() && capacity.get().numGpuBlocks() < 2) {
            String problem = "but " + model() + " does not fit on " + deployment.gpus() + ": "
                    + capacity.get().reason();
            throw new ModelTooLargeException(
                    String.valueOf(kvCache.unusable("num-gpu-blocks", problem).getMessage()),
                    "raise latency.tensor-parallel-size or kv-cache.gpu-memory-utilization");
        }
        return capacity.map(known -> (int) Math.min(Integer.MAX_VALUE, known.numGpuBlocks()))
                .orElse(DEFAULT_BLOCKS);
    }

    private String model() {
        var llm = deployment.llm();
        return llm == null ? "the model" : llm.spec().name();
    }

    /** Returns how the memory is shared out; empty without model or GPU. */
    Optional<KvCapacity> capacity() {
        var llm = deployment.llm();
        var gpu = deployment.gpu();
        if (llm == null || gpu == null || gpu.spec().memoryGib() == 0) {
            return Optional.empty();
        }
        var stage = llm.spec().stage(deployment.pipelineParallelSize());
        return Optional.of(KvCapacity.of(
                stage,
                gpu.spec(),
                deployment.parallelism(),
                deployment.bytesPerKvElement(),
                deployment.gpuMemoryUtilization(),
                reservedTokens,
                blockSize,
                hasGroups ? stage.layerGroups().size() : stage.numLayers(),
                loraBytes));
    }
}
