package understudy.engine;

import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.KvGroup;
import understudy.latency.LlmSpec;
import understudy.settings.Section;

/** Model and GPUs of a replica, as far as the settings of its engine follow from them. */
public interface Hardware {

    /** Returns the model, or null if none is named. */
    @Nullable LlmSpec model();

    /** Returns whether the GPU's compute and bandwidth are known. */
    boolean hasDataSheet();

    /** Returns whether adapters of the model may have tables of embedding and head. */
    boolean hasLoraEmbeddings();

    /** Returns how many GPUs share each layer of a replica. */
    int tensorParallelSize();

    /** Returns how many replicas step together, as the ranks of a data-parallel group. */
    int lockstepSize();

    /** Returns the stages of a replica. */
    int pipelineParallelSize();

    /** Returns the memory of each GPU in GiB; 0 if it is not known. */
    double gpuMemoryGib();

    /** Returns how long vLLM's host takes to launch a kernel on such a GPU; 0 if it is not known. */
    double launchMicrosPerKernel();

    /** Returns the bytes of a token in the KV cache of each GPU; a model that is not named counts as Llama-3.1-8B. */
    double kvBytesPerTokenPerGpu();

    /** Returns how many requests may run at a time, unless that is given. */
    int defaultMaxNumSeqs();

    /** Returns the token budget of a step, unless that is given. */
    int defaultMaxNumBatchedTokens();

    /** Returns the longest sequence that the model was made for. */
    int defaultMaxModelLen();

    /**
     * Returns the tokens per block: as many as are asked for, or more if layers with states share the blocks, since a block
     * holds a whole state.
     */
    int blockSize(int least);

    /**
     * Returns the KV cache groups of a model whose layers do not all need everything; none for others.
     *
     * @param stateBlockSize tokens per block of groups of states
     */
    List<KvGroup> kvGroups(int blockSize, int stateBlockSize);

    /**
     * Returns the KV blocks for which there is memory, or a default without model or GPU.
     *
     * @param section the section to blame if there is none, with the room's {@link KvRoom.Keys#size}
     */
    int numGpuBlocks(Section section, KvRoom room);

    /**
     * Memory that KV blocks have to share with others.
     *
     * @param reservedTokens token budget of a step
     * @param blockSize tokens per block
     * @param hasGroups whether layers of a kind share blocks
     * @param adapterBytes slots of LoRA adapters on one GPU
     * @param stateBytes states on one GPU that have memory of their own
     * @param staticShare share of the memory that is for weights and blocks alone; 0 if what they leave to others follows
     *     from {@code reservedTokens} and {@code kv-cache.gpu-memory-utilization}
     * @param keys settings by which a family's users change it
     */
    record KvRoom(
            int reservedTokens,
            int blockSize,
            boolean hasGroups,
            double adapterBytes,
            double stateBytes,
            double staticShare,
            Keys keys) {
        /**
         * Settings by which users change it.
         *
         * @param size how much KV there is, as it stands in the family's section
         * @param share share of the memory that is for weights and KV, with its section
         * @param requests how many requests have states that are set aside, with its section; empty where none are
         */
        public record Keys(String size, String share, String requests) {
            static final Keys VLLM = new Keys(EngineSizes.NUM_GPU_BLOCKS, "kv-cache.gpu-memory-utilization", "");
        }

        /** Nothing is set aside: the number of blocks is given. */
        public static final KvRoom GIVEN = new KvRoom(0, 1, false, 0);

        /** Creates a room beside which activations of a step need theirs. */
        public KvRoom(int reservedTokens, int blockSize, boolean hasGroups, double adapterBytes) {
            this(reservedTokens, blockSize, hasGroups, adapterBytes, 0, 0, Keys.VLLM);
        }

        /** Returns whether the number of blocks follows from it. */
        public boolean isDerived() {
            return reservedTokens > 0 || staticShare > 0;
        }
    }
}
