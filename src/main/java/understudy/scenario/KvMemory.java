package understudy.scenario;

import java.util.Optional;
import understudy.engine.Hardware.KvRoom;
import understudy.engine.ModelTooLargeException;
import understudy.latency.KvCapacity;
import understudy.settings.Section;

/**
 * Memory of each GPU of a deployment, and what KV blocks have to leave room for.
 */
record KvMemory(Deployment deployment, KvRoom room) {
    private static final int DEFAULT_BLOCKS = 29_000;

    /** The null block, and one for a request. */
    private static final int MIN_BLOCKS = 2;

    /** Returns the blocks that fit, or the default without model or GPU. */
    int numGpuBlocks(Section section) {
        var capacity = capacity();
        if (capacity.isPresent() && capacity.get().numGpuBlocks() < MIN_BLOCKS) {
            String problem = "but " + model() + " does not fit on " + deployment.gpus() + ": "
                    + capacity.get().reason();
            throw new ModelTooLargeException(
                    String.valueOf(section.unusable(room.keys().size(), problem).getMessage()), remedy(capacity.get()));
        }
        return capacity.map(known -> (int) Math.min(Integer.MAX_VALUE, known.numGpuBlocks()))
                .orElse(DEFAULT_BLOCKS);
    }

    private String remedy(KvCapacity capacity) {
        String larger = "raise latency.tensor-parallel-size or " + room.keys().share();
        boolean isForStates = room.stateBytes() > 0 && capacity.withoutStates().numGpuBlocks() >= MIN_BLOCKS;
        return isForStates
                ? "lower " + room.keys().requests() + ", for each of which states are set aside, or " + larger
                : larger;
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
        var capacity = KvCapacity.of(
                stage,
                gpu.spec(),
                deployment.parallelism(),
                deployment.bytesPerKvElement(),
                deployment.gpuMemoryUtilization(),
                room.reservedTokens(),
                room.blockSize(),
                room.hasGroups() ? stage.layerGroups().size() : stage.numAttentionLayers(),
                room.adapterBytes());
        return Optional.of(
                room.staticShare() > 0
                        ? capacity.ofStaticShare(room.staticShare(), gpu.spec(), room.stateBytes())
                        : capacity);
    }
}
