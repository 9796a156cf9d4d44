package understudy.scenario;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import understudy.engine.EngineSpec;
import understudy.engine.Hardware;
import understudy.engine.MemorySettings;
import understudy.engine.MemorySettings.StateDtype;
import understudy.kvcache.KvGroup;
import understudy.latency.GpuSpec;
import understudy.latency.LlmSpec;
import understudy.latency.Parallelism;
import understudy.latency.WeightFormat;
import understudy.latency.kind.Device;
import understudy.latency.tables.MoeBackend;
import understudy.settings.Section;

/**
 * The model and the GPUs that a scenario names, and what vLLM would derive from them; either may be missing, and then
 * the defaults are those of Llama-3.1-8B on one H100.
 *
 * @param llm the model
 * @param gpu each of a replica's GPUs
 * @param parallelism how a replica's GPUs, and other replicas, share the model
 * @param pipelineParallelSize stages of a replica, each on so many GPUs
 * @param bytesPerKvElement of the KV cache
 * @param gpuMemoryUtilization share of the memory that vLLM may use
 */
public record Deployment(
        @Nullable LlmFile llm,
        @Nullable GpuFile gpu,
        Parallelism parallelism,
        int pipelineParallelSize,
        double bytesPerKvElement,
        double gpuMemoryUtilization)
        implements Hardware {
    private static final int MAX_PARALLEL_SIZE = 1024;
    private static final String TENSOR_PARALLEL_SIZE = "tensor-parallel-size";
    private static final String PIPELINE_PARALLEL_SIZE = "pipeline-parallel-size";
    private static final String MOE_BACKEND = "moe-backend";

    /** Tokens of which an attention kernel's blocks are multiples. */
    private static final int KERNEL_BLOCK = 16;

    /** More tokens than any sequence has. */
    private static final int MAX_BLOCK = 1_000_000_000;

    private static final String ENABLE_EXPERT_PARALLEL = "enable-expert-parallel";
    private static final int DEFAULT_MAX_MODEL_LEN = 131_072;
    private static final double LARGE_GPU_GIB = 160;
    private static final double MEDIUM_GPU_GIB = 70;
    private static final String LLM = "llm";
    private static final String GPU = "gpu";

    /** Llama-3.1-8B in bfloat16: 32 layers, 8 KV heads of 128 elements. */
    private static final double DEFAULT_KV_BYTES_PER_TOKEN = 131_072;

    private static final int DEFAULT_NUM_LAYERS = 32;
    private static final int DEFAULT_HIDDEN_SIZE = 4096;

    /** Weights of Llama-3.1-8B in 16 bits. */
    private static final double DEFAULT_WEIGHT_BYTES = 16.06e9;

    private enum KvCacheDtype {
        AUTO,
        BF16,
        BFLOAT16,
        FP8,
        FP8_E4M3,
        FP8_E5M2
    }

    /** Reads the hardware from both sections. */
    static Deployment read(Section latency, Section kvCache) {
        var llm = latency.text(LLM).isEmpty()
                ? null
                : withStateDtype(withDtype(LlmFile.find(latency, LLM), latency), kvCache);
        var gpu = latency.text(GPU).isEmpty() ? null : GpuFile.find(latency, GPU);
        var parallelism = parallelism(latency);
        if (llm != null) {
            requireEvenShares(latency, llm.spec(), parallelism);
        }
        double bytes = switch (kvCache.choice("kv-cache-dtype", KvCacheDtype.class)) {
            case AUTO -> llm != null && llm.spec().weights() == WeightFormat.FP32 ? 4 : 2;
            case BF16, BFLOAT16 -> 2;
            case FP8, FP8_E4M3, FP8_E5M2 -> 1;
        };
        int stages = latency.wholeNumber(PIPELINE_PARALLEL_SIZE, 1, MAX_PARALLEL_SIZE);
        var deployment =
                new Deployment(llm, gpu, parallelism, stages, bytes, kvCache.number("gpu-memory-utilization", 0, 1));
        if (stages > 1 && deployment.lockstepSize() > 1) {
            throw latency.unusable(PIPELINE_PARALLEL_SIZE, "but ranks that step together are one stage each");
        }
        int numLayers = llm == null ? DEFAULT_NUM_LAYERS : llm.spec().numLayers();
        if (stages > numLayers) {
            throw latency.unusable(PIPELINE_PARALLEL_SIZE, "but there are " + numLayers + " layers to share");
        }
        return deployment;
    }

    private static Parallelism parallelism(Section latency) {
        return new Parallelism(
                latency.wholeNumber(TENSOR_PARALLEL_SIZE, 1, MAX_PARALLEL_SIZE),
                latency.wholeNumber("data-parallel-size", 1, MAX_PARALLEL_SIZE),
                latency.bool(ENABLE_EXPERT_PARALLEL),
                latency.choice("all2all-backend", Parallelism.All2AllBackend.class));
    }

    private static void requireEvenShares(Section latency, LlmSpec llm, Parallelism parallelism) {
        var attention = llm.attention();
        if (attention.numHeads() % parallelism.tensorParallelSize() != 0) {
            throw latency.unusable(
                    TENSOR_PARALLEL_SIZE,
                    "but the " + attention.numHeads() + " attention heads of " + llm.name()
                            + " must divide evenly among the GPUs");
        }
        if (!parallelism.sharesKvHeadsEvenly(attention)) {
            throw latency.unusable(
                    TENSOR_PARALLEL_SIZE,
                    "but the " + attention.numKvHeads()
                            + " KV heads must divide evenly among the GPUs, or the GPUs among them");
        }
        var linear = llm.linearAttention();
        if (linear != null && !parallelism.sharesStatesEvenly(linear)) {
            throw latency.unusable(
                    TENSOR_PARALLEL_SIZE,
                    "but the " + linear.numKeyHeads()
                            + " key heads of linear attention must divide evenly among the GPUs");
        }
        if (!parallelism.sharesExpertsEvenly(llm.feedForward())) {
            throw latency.unusable(
                    ENABLE_EXPERT_PARALLEL,
                    "but experts of width " + llm.feedForward().expertSize()
                            + " must divide evenly among the GPUs of all data-parallel ranks");
        }
    }

    private static LlmFile withDtype(LlmFile file, Section latency) {
        var spec = file.spec();
        var weights = LlmFile.format(latency, "dtype", spec.weights());
        boolean isAsStored = latency.text("dtype").equals("auto");
        var served = isAsStored ? spec : spec.withAllWeights(weights);
        boolean usesMarlin = served.expertWeights() == WeightFormat.MXFP4
                && latency.choice(MOE_BACKEND, MoeBackend.class) == MoeBackend.MARLIN;
        return file.withSpec(usesMarlin ? served.withExpertWeights(WeightFormat.MXFP4_MARLIN) : served);
    }

    /** A model says in which format it keeps states, unless the server is told otherwise. */
    private static LlmFile withStateDtype(LlmFile file, Section kvCache) {
        var linear = file.spec().linearAttention();
        var dtype = MemorySettings.stateDtype(kvCache);
        return linear == null || dtype == StateDtype.AUTO
                ? file
                : file.withSpec(file.spec()
                        .withLinearAttention(linear.withBytesPerStateElement(
                                dtype == StateDtype.FLOAT32 ? Float.BYTES : Short.BYTES)));
    }

    /** Returns the device from which the time of a step follows. */
    Device device() {
        return new Device(
                model(),
                gpu == null ? null : new Device.Gpu(gpu.spec(), gpu.profile(), gpu.kernelTables()),
                parallelism,
                pipelineParallelSize,
                bytesPerKvElement);
    }

    @Override
    public @Nullable LlmSpec model() {
        return llm == null ? null : llm.spec();
    }

    @Override
    public boolean hasDataSheet() {
        return gpu != null && gpu.spec().hasDataSheet();
    }

    @Override
    public boolean hasLoraEmbeddings() {
        return llm != null && llm.hasLoraEmbeddings();
    }

    @Override
    public int numGpuBlocks(Section section, KvRoom room) {
        return new KvMemory(this, room).numGpuBlocks(section);
    }

    @Override
    public int tensorParallelSize() {
        return parallelism.tensorParallelSize();
    }

    /** Returns how many GPUs a replica has. */
    public int numGpus() {
        return tensorParallelSize() * pipelineParallelSize;
    }

    @Override
    public double launchMicrosPerKernel() {
        return gpu == null ? 0 : gpu.launchMicrosPerKernel();
    }

    @Override
    public double gpuMemoryGib() {
        return gpu == null ? 0 : gpu.spec().memoryGib();
    }

    /** Returns vLLM's default for its OpenAI server ({@code EngineArgs.get_batch_defaults}). */
    @Override
    public int defaultMaxNumSeqs() {
        return gpu == null || gpu.spec().memoryGib() == 0 || isLarge(gpu.spec()) ? 1024 : 256;
    }

    /** Returns vLLM's default for its OpenAI server. */
    @Override
    public int defaultMaxNumBatchedTokens() {
        if (gpu == null || gpu.spec().memoryGib() == 0) {
            return 8192;
        }
        return gpu.spec().memoryGib() >= LARGE_GPU_GIB ? 16_384 : isLarge(gpu.spec()) ? 8192 : 2048;
    }

    @Override
    public int defaultMaxModelLen() {
        return llm == null ? DEFAULT_MAX_MODEL_LEN : llm.spec().maxPositionEmbeddings();
    }

    /** As vLLM's {@code HybridAttentionMambaModelConfig} has it. */
    @Override
    public int blockSize(int least) {
        var linear = llm == null ? null : llm.spec().linearAttention();
        if (llm == null || linear == null) {
            return least;
        }
        double kvBytes = llm.spec().attention().kvBytesPerRank(tensorParallelSize(), bytesPerKvElement);
        double tokens = linear.stateBytesPerRank(tensorParallelSize()) / kvBytes;
        return (int) Math.max(least, Math.min(MAX_BLOCK, KERNEL_BLOCK * Math.ceil(tokens / KERNEL_BLOCK)));
    }

    /**
     * Returns the KV cache groups of a model whose layers do not all need everything; none for others. Those with a window,
     * or with states, come first, as in the models that have them.
     */
    @Override
    public List<KvGroup> kvGroups(int blockSize, int stateBlockSize) {
        var groups = new ArrayList<KvGroup>();
        if (llm != null && llm.spec().layerGroups().numPartial() > 0) {
            var layers = llm.spec().layerGroups();
            int window = llm.spec().attention().window();
            var partial = llm.spec().linearAttention() == null
                    ? new KvGroup(KvGroup.Kind.SLIDING_WINDOW, blockSize, window)
                    : new KvGroup(KvGroup.Kind.MAMBA, stateBlockSize, 0);
            groups.addAll(Collections.nCopies(layers.numPartial(), partial));
            groups.addAll(
                    Collections.nCopies(layers.numFull(), new KvGroup(KvGroup.Kind.FULL_ATTENTION, blockSize, 0)));
        }
        return groups;
    }

    /** Returns, line by line, what was derived and how. */
    public List<String> reasons(EngineSpec engine) {
        var lines = new ArrayList<String>();
        if (llm != null) {
            lines.add(String.format(
                    Locale.ROOT,
                    "latency.llm %s: %.2f billion weights, %s (%s)",
                    llm.spec().name(),
                    llm.spec().numParams() / 1e9,
                    word(llm.status()),
                    llm.source()));
        }
        if (gpu != null) {
            boolean isMixed =
                    gpu.status() == GpuFile.Status.FITTED && !gpu.assumed().isEmpty();
            String assumed = isMixed ? ", but assumed: " + String.join(", ", gpu.assumed()) : "";
            lines.add("latency.gpu " + gpu.spec().name() + ": " + word(gpu.status()) + assumed + " (" + gpu.source()
                    + ")");
        }
        if (engine.room().isDerived()) {
            new KvMemory(this, engine.room())
                    .capacity()
                    .ifPresent(
                            capacity -> lines.add(engine.memorySize() + ", on " + gpus() + ": " + capacity.reason()));
        }
        String groups = engine.kvCache().groupsReason();
        if (!groups.isEmpty()) {
            lines.add("kv-cache.groups: " + groups);
        }
        lines.add("engine.max-num-seqs " + engine.traits().maxNumSeqs() + ", max-num-batched-tokens "
                + engine.traits().maxNumBatchedTokens() + ", max-model-len "
                + engine.kvCache().maxModelLen());
        return lines;
    }

    @Override
    public double kvBytesPerTokenPerGpu() {
        return llm == null
                ? DEFAULT_KV_BYTES_PER_TOKEN / numGpus()
                : llm.spec().kvBytesPerTokenPerRank(tensorParallelSize(), bytesPerKvElement) / pipelineParallelSize;
    }

    /** Returns the bytes of a token in the KV cache of all GPUs, without copies. */
    double kvBytesPerToken() {
        return llm == null ? DEFAULT_KV_BYTES_PER_TOKEN : llm.spec().kvBytesPerTokenPerRank(1, bytesPerKvElement);
    }

    /**
     * Returns how many replicas step together: all of a data-parallel group, whose experts exchange tokens; without
     * experts each steps alone, as in vLLM.
     */
    @Override
    public int lockstepSize() {
        boolean isDense = llm != null && llm.spec().feedForward().numExperts() == 0;
        return isDense ? 1 : parallelism.dataParallelSize();
    }

    /** Returns the bytes of a sequence's states of linear attention on all GPUs. */
    double stateBytes() {
        return llm == null ? 0 : llm.spec().stateBytesPerRank(1);
    }

    /** Returns the bytes of the weights on all GPUs together. */
    double weightBytes() {
        return llm == null ? DEFAULT_WEIGHT_BYTES : llm.spec().weightBytesPerRank(Parallelism.ofTensors(1));
    }

    /** Returns the length of an embedding. */
    int hiddenSize() {
        return llm == null ? DEFAULT_HIDDEN_SIZE : llm.spec().hiddenSize();
    }

    /** Returns how many layers have a KV cache. */
    int numLayers() {
        return llm == null ? DEFAULT_NUM_LAYERS : llm.spec().numAttentionLayers();
    }

    /** Returns the model and the GPUs of a replica in words. */
    String words() {
        return (llm == null ? "an unnamed model" : llm.spec().name()) + " on " + gpus();
    }

    /** Returns the GPUs of a replica in words. */
    String gpus() {
        String name = gpu == null ? "an unnamed GPU" : gpu.spec().name();
        return numGpus() == 1 ? name : numGpus() + " x " + name;
    }

    private static boolean isLarge(GpuSpec gpu) {
        double least = gpu.name().toLowerCase(Locale.ROOT).contains("a100") ? LARGE_GPU_GIB : MEDIUM_GPU_GIB;
        return gpu.memoryGib() >= least;
    }

    private static String word(GpuFile.Status status) {
        return status.name().toLowerCase(Locale.ROOT);
    }
}
