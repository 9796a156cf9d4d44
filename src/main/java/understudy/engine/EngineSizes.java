package understudy.engine;

import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import understudy.engine.Hardware.KvRoom;
import understudy.kvcache.KvGroup;
import understudy.kvcache.KvGroups;
import understudy.kvcache.PrefixUnit;
import understudy.latency.LlmSpec;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

/** Those sizes of an engine that follow from each other and from the hardware, where the scenario leaves them open. */
public final class EngineSizes {
    static final String MAX_NUM_SEQS = "max-num-seqs";
    private static final String MAX_NUM_ACTIVE_SEQS = "max-num-active-seqs";
    public static final String MAX_NUM_BATCHED_TOKENS = "max-num-batched-tokens";
    static final String MAX_MODEL_LEN = "max-model-len";
    static final String NUM_GPU_BLOCKS = "num-gpu-blocks";
    public static final int MAX_TOKENS = 100_000_000;

    private static final int MAX_BLOCKS = 100_000_000;
    private static final int MAX_BLOCK_SIZE = 4096;
    private static final String GROUPS = "groups";
    private static final String FULL_HIT = "full-hit";
    private static final String DISABLE_HYBRID = "disable-hybrid-kv-cache-manager";
    private static final String RETENTION = "prefix-cache-retention-interval";
    private static final String GROUP_DEFAULTS =
            "kind = full-attention, block-size = auto, sliding-window = 0, attention-chunk-size = 0";

    /** Ways of keeping content that a memory with several groups does not have. */
    private static final List<String> ONLY_FOR_ONE_GROUP =
            List.of("sessions", "promote-full-blocks", "cache-generated-blocks");

    private static final String NEEDED_FOR_GROUPS =
            "engine.kind = vllm, no tiers, no groups with roles, and the defaults of engine.full-hit and kv-cache."
                    + String.join(", ", ONLY_FOR_ONE_GROUP);

    private static final int MAX_SEQS = 1_000_000;
    private static final int MIN_MODEL_LEN = 2;

    private final Section engine;
    private final Section kvCache;
    private final Hardware hardware;
    private final PrefixUnit prefixUnit;
    private final int blockSize;
    private final boolean chunksPrefills;
    private final PerformanceMode mode;
    private final OptionalInt givenSeqs;
    private final OptionalInt givenBatchedTokens;
    private final OptionalInt givenModelLen;
    private final OptionalInt givenBlocks;
    private final List<KvGroup> groups;
    private final double loraBytes;

    /**
     * Reads what is given.
     *
     * @param hasConnector whether KV comes from elsewhere, which vLLM has for one group only
     * @param loraBytes memory of each GPU that is set aside for adapters
     */
    public EngineSizes(
            Section engine,
            Section kvCache,
            PrefixUnit prefixUnit,
            Hardware hardware,
            boolean hasConnector,
            double loraBytes) {
        this.loraBytes = loraBytes;
        this.engine = engine;
        this.kvCache = kvCache;
        this.hardware = hardware;
        this.prefixUnit = prefixUnit;
        blockSize = hardware.blockSize(kvCache.wholeNumber("block-size", 1, MAX_BLOCK_SIZE));
        chunksPrefills = engine.bool("enable-chunked-prefill");
        mode = mode(engine);
        givenSeqs = engine.numberOrAuto(MAX_NUM_SEQS, 1, MAX_SEQS);
        givenBatchedTokens = engine.numberOrAuto(MAX_NUM_BATCHED_TOKENS, 1, MAX_TOKENS);
        givenModelLen = engine.numberOrAuto(MAX_MODEL_LEN, MIN_MODEL_LEN, MAX_TOKENS);
        givenBlocks = kvCache.numberOrAuto(NUM_GPU_BLOCKS, prefixUnit.minBlocks(), MAX_BLOCKS);
        groups = readGroups(hasConnector);
    }

    private List<KvGroup> readGroups(boolean hasConnector) {
        boolean isPlain = prefixUnit == PrefixUnit.BLOCK
                && !hasConnector
                && engine.isDefault(FULL_HIT)
                && ONLY_FOR_ONE_GROUP.stream().allMatch(kvCache::isDefault);
        var entries = kvCache.sections(GROUPS);
        if (entries.isEmpty()) {
            boolean isOff = engine.bool(DISABLE_HYBRID);
            if (!isOff && isPlain) {
                return hardware.kvGroups(blockSize, stateBlockSize());
            }
            var model = hardware.model();
            if (model != null && model.linearAttention() != null) {
                throw noGroups(model, hasConnector);
            }
            return List.of();
        }
        if (!isPlain) {
            throw kvCache.unusable(GROUPS, "which need " + NEEDED_FOR_GROUPS);
        }
        if (givenBlocks.isEmpty()) {
            throw kvCache.unusable(GROUPS, "with which kv-cache.num-gpu-blocks must be given");
        }
        var given = entries.stream().map(this::group).toList();
        if (KvGroups.commonBlockSize(given) > MAX_TOKENS) {
            throw kvCache.unusable(
                    GROUPS,
                    "whose block sizes must have a common multiple of at most " + MAX_TOKENS
                            + " tokens, at which all can end a prompt; they are "
                            + given.stream().map(KvGroup::blockSize).distinct().toList());
        }
        return given;
    }

    /** Says what is in the way of groups that a model cannot do without. */
    private ScenarioException noGroups(LlmSpec model, boolean hasConnector) {
        String problem = "but the states of " + model.name() + " are KV cache groups, which ";
        engine.requireDefaults(List.of(DISABLE_HYBRID, FULL_HIT), problem + "need the default");
        kvCache.requireDefaults(ONLY_FOR_ONE_GROUP, problem + "need the default");
        return engine.unusable(
                "kind",
                problem
                        + (hasConnector
                                ? "go without kv-cache.tiers, groups with roles and kv-connector here"
                                : "need engine.kind = vllm"));
    }

    private KvGroup group(Section entry) {
        var group = entry.withDefaults(Section.of(GROUP_DEFAULTS));
        var kind = group.choice("kind", KvGroup.Kind.class);
        String spanKey = kind == KvGroup.Kind.CHUNKED_LOCAL_ATTENTION ? "attention-chunk-size" : "sliding-window";
        int span = kind.hasSpan() ? group.wholeNumber(spanKey, 1, MAX_TOKENS) : 0;
        int usualSize = kind == KvGroup.Kind.MAMBA ? stateBlockSize() : blockSize;
        return new KvGroup(
                kind, group.numberOrAuto("block-size", 1, MAX_BLOCK_SIZE).orElse(usualSize), span);
    }

    /** One block, and so one state, is for the longest sequence where no prefixes are cached (vLLM {@code mamba_block_size}). */
    private int stateBlockSize() {
        if (MemorySettings.cachesPrefixes(kvCache, true)) {
            return blockSize;
        }
        int longest = givenModelLen.orElse(hardware.defaultMaxModelLen());
        return (longest + blockSize - 1) / blockSize * blockSize;
    }

    /** Returns the tokens per hash of a block's content; a block, unless groups have blocks of several sizes. */
    public int hashBlockSize() {
        return groups.isEmpty() ? blockSize : groups(1).hashBlockSize();
    }

    /** Returns the groups of layers for sequences of this length, or null if all layers need everything. */
    public @Nullable KvGroups groupsOrNull(int maxModelLen) {
        return groups.isEmpty() ? null : groups(maxNumBatchedTokens(maxModelLen));
    }

    private KvGroups groups(int maxNumBatchedTokens) {
        long maxInFlight = ((isAsync() ? 1L : 0L) + pipelineParallelSize()) * maxNumBatchedTokens;
        int threshold = engine.wholeNumber("long-prefill-token-threshold", 0, MAX_TOKENS);
        return new KvGroups(
                groups,
                kvCache.text(RETENTION).equals("all")
                        ? KvGroups.RETAIN_ALL
                        : kvCache.wholeNumber(RETENTION, 0, MAX_TOKENS),
                (int) Math.min(maxInFlight, Integer.MAX_VALUE),
                threshold > 0 ? Math.min(threshold, maxNumBatchedTokens) : maxNumBatchedTokens);
    }

    private long maxTokens(int numGpuBlocks) {
        return groups.isEmpty()
                ? prefixUnit.maxTokens(numGpuBlocks, blockSize)
                : groups(tokensToReserve())
                        .maxTokens(numGpuBlocks - 1, givenModelLen.orElse(hardware.defaultMaxModelLen()));
    }

    /** Returns whether there is a group of states, as Mamba layers have them. */
    boolean hasStates() {
        return groups.stream().anyMatch(group -> group.kind() == KvGroup.Kind.MAMBA);
    }

    /** Returns the stages of a replica. */
    public int pipelineParallelSize() {
        return hardware.pipelineParallelSize();
    }

    /** In a pipeline vLLM plans ahead of results only with its second model runner, which is not its default. */
    public boolean isAsync() {
        return engine.text("async-scheduling").equals("auto")
                ? pipelineParallelSize() == 1
                : engine.bool("async-scheduling");
    }

    /** Returns the physical blocks, the null block included. */
    public int numGpuBlocks() {
        int numGpuBlocks = givenBlocks.orElseGet(
                () -> Math.min(MAX_BLOCKS, hardware.numGpuBlocks(kvCache, room(tokensToReserve()))));
        if (maxTokens(numGpuBlocks) < MIN_MODEL_LEN) {
            throw kvCache.unusable(
                    NUM_GPU_BLOCKS,
                    "which leaves no room for a request: one block is vLLM's null block, and a block holds " + blockSize
                            + " tokens");
        }
        return numGpuBlocks;
    }

    /** Returns the room of the KV blocks, with no budget of a step set aside if their number is given. */
    public KvRoom room() {
        return room(givenBlocks.isPresent() ? 0 : tokensToReserve());
    }

    private KvRoom room(int reservedTokens) {
        return new KvRoom(reservedTokens, blockSize, !groups.isEmpty(), loraBytes);
    }

    private int tokensToReserve() {
        return givenBatchedTokens.orElseGet(() -> usualBudget(givenModelLen.orElse(hardware.defaultMaxModelLen())));
    }

    private int usualBudget(int maxModelLen) {
        int usual = hardware.defaultMaxNumBatchedTokens() * mode.batchFactor();
        return chunksPrefills ? usual : Math.max(usual, maxModelLen);
    }

    /** As in vLLM, a request of this length must fit into an empty cache. */
    public int maxModelLen(int numGpuBlocks) {
        long maxKvTokens = maxTokens(numGpuBlocks);
        int maxModelLen = givenModelLen.orElseGet(() -> (int) Math.min(hardware.defaultMaxModelLen(), maxKvTokens));
        if (maxModelLen > maxKvTokens) {
            String problem = "but the KV cache holds " + maxKvTokens + " tokens";
            throw new ModelTooLargeException(
                    String.valueOf(engine.unusable(MAX_MODEL_LEN, problem).getMessage()),
                    "raise kv-cache.num-gpu-blocks or lower it");
        }
        return maxModelLen;
    }

    /** Returns how many requests may run at a time, if that is given. */
    public OptionalInt givenSeqs() {
        return givenSeqs;
    }

    /** As in vLLM, a default gives way to a smaller token budget, and a number of the user's does not. */
    public int maxNumSeqs() {
        return maxNumSeqs(givenSeqs, givenBatchedTokens, hardware, mode);
    }

    /** Returns the same where nothing else of an engine's sizes is asked for. */
    public static int maxNumSeqs(Section engine, Hardware hardware) {
        return maxNumSeqs(
                engine.numberOrAuto(MAX_NUM_SEQS, 1, MAX_SEQS),
                engine.numberOrAuto(MAX_NUM_BATCHED_TOKENS, 1, MAX_TOKENS),
                hardware,
                mode(engine));
    }

    private static int maxNumSeqs(
            OptionalInt givenSeqs, OptionalInt givenBatchedTokens, Hardware hardware, PerformanceMode mode) {
        return givenSeqs.orElseGet(
                () -> Math.min(hardware.defaultMaxNumSeqs() * mode.batchFactor(), givenBatchedTokens.orElse(MAX_SEQS)));
    }

    /** Returns what defaults are chosen for. */
    public static PerformanceMode mode(Section engine) {
        return engine.choice(PerformanceMode.KEY, PerformanceMode.class);
    }

    /** Returns the most requests in the running list if that is less than there are places, or 0. */
    public int maxNumActiveSeqs() {
        int maxNumActiveSeqs = engine.wholeNumber(MAX_NUM_ACTIVE_SEQS, 0, MAX_SEQS);
        if (maxNumActiveSeqs > maxNumSeqs()) {
            throw engine.unusable(MAX_NUM_ACTIVE_SEQS, "must be at most max-num-seqs, which is " + maxNumSeqs());
        }
        return maxNumActiveSeqs;
    }

    /** The defaults and checks of vLLM's {@code EngineArgs}. */
    public int maxNumBatchedTokens(int maxModelLen) {
        int maxNumSeqs = maxNumSeqs();
        if (givenBatchedTokens.isEmpty()) {
            long most = Math.min((long) maxNumSeqs * maxModelLen, usualBudget(maxModelLen));
            return Math.max(maxNumSeqs, (int) most);
        }
        int maxNumBatchedTokens = givenBatchedTokens.getAsInt();
        if (maxNumBatchedTokens < maxNumSeqs) {
            throw engine.unusable(MAX_NUM_BATCHED_TOKENS, "must be at least max-num-seqs, which is " + maxNumSeqs);
        }
        if (!chunksPrefills && maxNumBatchedTokens < maxModelLen) {
            throw engine.unusable(
                    MAX_NUM_BATCHED_TOKENS,
                    "must be at least max-model-len, which is " + maxModelLen + ", since prefills are not chunked");
        }
        return maxNumBatchedTokens;
    }
}
