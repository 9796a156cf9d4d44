package understudy.engine.sglang;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import understudy.engine.EngineFamily.KvUse;
import understudy.engine.EngineSizes;
import understudy.engine.Hardware;
import understudy.engine.Hardware.KvRoom;
import understudy.engine.MemorySettings;
import understudy.engine.RequestLimits;
import understudy.engine.RequestLimits.ContextOverflow;
import understudy.engine.speculation.AcceptanceRates;
import understudy.engine.speculation.SyntheticDrafts;
import understudy.kvcache.connector.KvSource;
import understudy.kvcache.radix.RadixConfig;
import understudy.kvcache.radix.RadixEvictionPolicy;
import understudy.kvcache.radix.RadixSpec;
import understudy.latency.LlmSpec;
import understudy.settings.Section;
import understudy.transfer.TransferSettings;

/** The section {@code engine.sglang}, whose keys are SGLang's arguments, and what follows from the hardware. */
final class SglangSettings {
    private static final int MAX_PAGE_SIZE = 4096;
    private static final int MAX_REQUESTS = 1_000_000;
    private static final int MAX_POLLING_INTERVAL = 1000;
    private static final String RESERVED = "num-reserved-decode-tokens";
    private static final double MIB_PER_GIB = 1024;

    /** Tokens per block of the number of blocks that stands for an unknown model or GPU. */
    private static final int UNKNOWN_BLOCK_SIZE = 16;

    private static final KvRoom.Keys KEYS = new KvRoom.Keys(
            "max-total-tokens", "engine.sglang.mem-fraction-static", "engine.sglang.max-running-requests");

    /** Share of the memory of a GPU that is not known. */
    private static final double DEFAULT_MEM_FRACTION = 0.88;

    private static final double LARGE_MIB = 60 * MIB_PER_GIB;
    private static final double LEAST_RESERVED_MIB = 10 * MIB_PER_GIB;
    private static final double RESERVED_FOR_DRAFTS_MIB = 2 * MIB_PER_GIB;

    /** Requests of a CUDA graph above which DP attention keeps still more memory. */
    private static final int LARGE_GRAPH = 300;

    /** Of all ranks together. */
    private static final int DEFAULT_MAX_STATES = 512;

    private static final String NO_RADIX = "disable-radix-cache";
    private static final int MAX_DRAFTS = 128;
    private static final String ALGORITHM = "speculative-algorithm";
    private static final String CHUNKED_PREFILL_SIZE = "chunked-prefill-size";
    private static final String TOPK = "speculative-eagle-topk";
    private static final double BYTES_PER_GB = 1e9;

    private static final long NANOS_PER_MILLI = 1_000_000;

    /** What {@code server_args.py} makes of the conservativeness with DP attention. */
    private static final double CONSERVATIVENESS_OF_RANKS = 0.3;

    private static final String DP_ATTENTION = "enable-dp-attention";
    private static final String LORA = "enable-lora";
    private static final String LORA_PATHS = "lora-paths";
    private static final String INTERVAL = "prefill-decode-interval";
    private static final String DELAYER = "enable-prefill-delayer";
    private static final String DISABLE_OVERLAP = "disable-overlap-schedule";
    private static final String HIERARCHY = "enable-hierarchical-cache";
    private static final String STORAGE = "hicache-storage-backend";
    private static final String DISABLE_HYBRID = "disable-hybrid-swa-memory";

    private final Section engine;
    private final Section kvCache;
    private final Section own;
    private final Hardware hardware;

    SglangSettings(Section engine, Section kvCache, Hardware hardware) {
        this.engine = engine;
        this.kvCache = kvCache;
        this.hardware = hardware;
        own = engine.section(SglangFamily.NAME);
    }

    private enum Algorithm {
        NONE,
        EAGLE,
        EAGLE3
    }

    /** Storage behind the host ({@code hicache_storage_backend}): files are each replica's own, all others have one together. */
    private enum StorageBackend {
        NONE,
        FILE,
        MOONCAKE,
        HF3FS,
        NIXL,
        AIBRIX,
        DYNAMIC,
        EIC,
        SIMM;

        private KvSource source() {
            return this == FILE ? KvSource.DISK : KvSource.STORE;
        }
    }

    private enum RetractionPolicy {
        LENGTH,
        PRIORITY
    }

    /** Returns the ranks that step together, which is what DP attention comes to. */
    private int numRanks() {
        int numRanks = hardware.lockstepSize();
        if (!own.text(DP_ATTENTION).equals("auto") && own.bool(DP_ATTENTION) != numRanks > 1) {
            String problem = numRanks > 1
                    ? "but latency.data-parallel-size makes ranks of " + numRanks
                            + " replicas, which share experts and step together; leave it at auto"
                    : "which needs latency.data-parallel-size > 1, and a model with experts, or none named";
            throw own.unusable(DP_ATTENTION, problem);
        }
        return numRanks;
    }

    SglangSpec spec(KvUse use) {
        int numRanks = numRanks();
        int pageSize = own.wholeNumber("page-size", 1, MAX_PAGE_SIZE);
        int chunkedPrefillSize = chunkedPrefillSize(pageSize, numRanks);
        int maxPrefillTokens = own.wholeNumber("max-prefill-tokens", 1, EngineSizes.MAX_TOKENS);
        double share = memFractionStatic(chunkedPrefillSize > 0 ? chunkedPrefillSize * numRanks : maxPrefillTokens);
        var room = room(pageSize, share);
        int maxTotalTokens = maxTotalTokens(pageSize, room);
        int maxModelLen =
                engine.numberOrAuto("max-model-len", 2, EngineSizes.MAX_TOKENS).orElseGet(hardware::defaultMaxModelLen);
        var window = window(pageSize, maxTotalTokens);
        var verification = verification();
        var hierarchy = hierarchy(maxTotalTokens);
        if (hierarchy != null && (window != null || verification != null)) {
            throw own.unusable(
                    HIERARCHY,
                    "which goes without drafts here, and with one pool for all layers: set " + ALGORITHM
                            + " = none and " + DISABLE_HYBRID + " = true");
        }
        if (verification != null && window != null) {
            throw own.unusable(
                    ALGORITHM, "which goes with one pool for all layers here; set " + DISABLE_HYBRID + " = true");
        }
        if (verification != null && own.bool(LORA)) {
            throw own.unusable(LORA, "which SGLang refuses with drafts of EAGLE; set " + ALGORITHM + " = none");
        }
        if (hardware.pipelineParallelSize() > 1) {
            throw engine.unusable("kind", "which has no pipeline here; set latency.pipeline-parallel-size = 1");
        }
        if (use.hasConnector()) {
            requireNoFeature(hierarchy, verification, window);
        }
        var memory = new RadixConfig(
                pageSize,
                maxTotalTokens,
                sharesNothing(),
                chunkedPrefillSize > 0,
                own.choice("radix-eviction-policy", RadixEvictionPolicy.class),
                verification == null
                        ? 0
                        : RadixConfig.eagleReserve(
                                pageSize,
                                verification.numSteps(),
                                own.wholeNumber(TOPK, 1, MAX_DRAFTS),
                                verification.numDraftTokens()),
                false,
                window,
                hierarchy);
        var radix = new RadixSpec(memory, maxModelLen, MemorySettings.hasher(kvCache, pageSize), use.recordsEvents());
        var config = SglangConfigBuilder.builder()
                .schedulePolicy(schedulePolicy())
                .overlaps(!own.bool(DISABLE_OVERLAP))
                .chunkedPrefillSize(chunkedPrefillSize)
                .mixesChunks(own.bool("enable-mixed-chunk") && verification == null)
                .maxPrefillTokens(maxPrefillTokens)
                .prefillMaxRequests(own.wholeNumber("prefill-max-requests", 0, MAX_REQUESTS))
                .maxRunningRequests(maxRunningRequests(maxTotalTokens, maxModelLen))
                .maxModelLen(maxModelLen)
                .scheduleConservativeness(
                        own.positive("schedule-conservativeness") * (numRanks > 1 ? CONSERVATIVENESS_OF_RANKS : 1))
                .priorities(priorities())
                .retractsByPriority(
                        own.choice("retraction-policy", RetractionPolicy.class) == RetractionPolicy.PRIORITY)
                .estimate(estimate())
                .queue(queue())
                .requeuesRefusedPreemption(own.bool("requeue-refused-preemption"))
                .windowEvictionInterval(own.wholeNumber("swa-eviction-interval", 1, EngineSizes.MAX_TOKENS))
                .disaggregation(null)
                .verification(verification)
                .memory(memory)
                .maxLorasPerBatch(own.bool(LORA) ? own.wholeNumber("max-loras-per-batch", 1, MAX_REQUESTS) : 0)
                .prefillDecodeInterval(own.wholeNumber(INTERVAL, 0, MAX_REQUESTS))
                .prefillDelay(prefillDelay())
                .seed(own.wholeNumber("random-seed", 0L, Long.MAX_VALUE))
                .build();
        var limits = new RequestLimits(
                maxModelLen,
                radix.maxTokens(),
                engine.choice("context-window-exceeded", ContextOverflow.class),
                pageSize,
                0,
                true);
        return SglangSpecBuilder.builder()
                .config(config)
                .kvCache(radix)
                .limits(limits)
                .room(room)
                .drafts(drafts(verification))
                .draftsNanos(verification == null ? 0 : verification.numSteps() * own.nanos("speculative-draft-time"))
                .memFractionStatic(share)
                .mambaSsmDtype(mambaSsmDtype())
                .numRanks(numRanks)
                .loraModules(loraPaths())
                .decoding(decoding(use, maxTotalTokens))
                .warnings(warnings())
                .build();
    }

    private List<String> warnings() {
        var model = hardware.model();
        return model == null || model.linearAttention() == null || isCacheOff()
                ? List.of()
                : List.of("no prefixes are cached of " + model.name()
                        + ": SGLang keeps states of linear attention for that,"
                        + " which is not emulated; engine.sglang." + NO_RADIX + " = true says so, too");
    }

    private SglangSpec.Decoding decoding(KvUse use, int maxTotalTokens) {
        int numReserved = own.wholeNumber(RESERVED, 0, EngineSizes.MAX_TOKENS);
        if (use.hasConnector() && numReserved >= maxTotalTokens) {
            throw own.unusable(RESERVED, "which must be less than the " + maxTotalTokens + " tokens of the pool");
        }
        return new SglangSpec.Decoding(
                numReserved, own.wholeNumber("disaggregation-decode-polling-interval", 1, MAX_POLLING_INTERVAL));
    }

    /** Nothing is known of these features in engines with roles. */
    private void requireNoFeature(
            RadixConfig.@Nullable Hierarchy hierarchy,
            SglangConfig.@Nullable Verification verification,
            RadixConfig.@Nullable Window window) {
        String why = "which goes without roles here; ";
        if (hierarchy != null) {
            throw own.unusable(HIERARCHY, why + "set it to false");
        }
        if (verification != null) {
            throw own.unusable(ALGORITHM, why + "set it to none");
        }
        if (window != null) {
            throw own.unusable(DISABLE_HYBRID, "but groups have roles, which takes one pool here; set it to true");
        }
        if (hardware.lockstepSize() > 1) {
            throw own.unusable(DP_ATTENTION, why + "set latency.data-parallel-size = 1");
        }
        own.requireDefaults(List.of(LORA, DELAYER, INTERVAL), why + "leave the default");
    }

    private Map<String, String> loraPaths() {
        var paths = new LinkedHashMap<String, String>();
        for (String text : own.texts(LORA_PATHS)) {
            int equals = text.indexOf('=');
            String name = equals < 0 ? text : text.substring(0, equals);
            if (name.isEmpty() || paths.put(name, text.substring(equals + 1)) != null) {
                throw own.unusable(LORA_PATHS, "must be different names, each alone or as name=path");
            }
        }
        if (!paths.isEmpty() && !own.bool(LORA)) {
            throw own.unusable(LORA_PATHS, "which needs " + LORA + " = true");
        }
        return paths;
    }

    private SglangConfig.@Nullable Delay prefillDelay() {
        if (!own.bool(DELAYER)) {
            return null;
        }
        if (own.bool(DISABLE_OVERLAP)) {
            throw own.unusable(DELAYER, "which needs " + DISABLE_OVERLAP + " = false");
        }
        return new SglangConfig.Delay(
                numberOrNone("prefill-delayer-token-usage-low-watermark", 1),
                numberOrNone("prefill-delayer-queue-min-ratio", MAX_REQUESTS),
                own.wholeNumber("prefill-delayer-max-delay-ms", 0, Integer.MAX_VALUE) * NANOS_PER_MILLI,
                own.wholeNumber("prefill-delayer-max-delay-passes", 1, MAX_REQUESTS));
    }

    private double numberOrNone(String key, double max) {
        return own.text(key).equals("none") ? 0 : own.number(key, 0, max);
    }

    /** Deviation: SGLang caches states, too, at some points of a prompt. Here prefixes of such models are not cached. */
    private boolean sharesNothing() {
        return hasStates() || isCacheOff();
    }

    private boolean isCacheOff() {
        return own.bool(NO_RADIX) || !MemorySettings.cachesPrefixes(kvCache, false);
    }

    /** A model whose file names no format keeps states as all else; SGLang itself would take float32. */
    private @Nullable String mambaSsmDtype() {
        String dtype = MemorySettings.stateDtype(kvCache, hardware);
        return !hasStates() ? null : dtype.equals("auto") ? "bfloat16" : dtype;
    }

    private boolean hasStates() {
        var model = hardware.model();
        return model != null && model.linearAttention() != null;
    }

    /** Returns the copies on the host, or null if there are none. */
    private RadixConfig.@Nullable Hierarchy hierarchy(int maxTotalTokens) {
        var storage = storage(own);
        if (!own.bool(HIERARCHY)) {
            if (storage != null) {
                throw own.unusable(STORAGE, "which is behind the host: it needs " + HIERARCHY + " = true");
            }
            return null;
        }
        if (isCacheOff()) {
            throw own.unusable(HIERARCHY, "which needs a prefix cache");
        }
        if (hasStates()) {
            throw own.unusable(
                    HIERARCHY,
                    "which needs a prefix cache, of which states of linear attention are no part here: models with them"
                            + " have none");
        }
        double bytesPerToken = hardware.kvBytesPerTokenPerGpu();
        double hostBytes = own.number("hicache-size", 0, Double.MAX_VALUE) * BYTES_PER_GB;
        double hostTokens = hostBytes > 0 ? hostBytes / bytesPerToken : maxTotalTokens * own.positive("hicache-ratio");
        if (hostTokens > EngineSizes.MAX_TOKENS) {
            throw own.unusable(HIERARCHY, "with room for more than " + EngineSizes.MAX_TOKENS + " tokens");
        }
        return new RadixConfig.Hierarchy(
                (int) hostTokens,
                own.choice("hicache-write-policy", RadixConfig.WritePolicy.class),
                0,
                0,
                new RadixConfig.HostLinkSpec(
                        TransferSettings.hostPorts(kvCache.section("tiers").section("host")), bytesPerToken),
                storage);
    }

    /** Reads the storage behind the host, or returns null if there is none. */
    private static RadixConfig.@Nullable Storage storage(Section own) {
        var backend = own.choice(STORAGE, StorageBackend.class);
        return backend == StorageBackend.NONE
                ? null
                : new RadixConfig.Storage(
                        backend.source(),
                        own.choice("hicache-storage-prefetch-policy", RadixConfig.PrefetchPolicy.class),
                        own.wholeNumber("prefetch-threshold", 0, EngineSizes.MAX_TOKENS),
                        (long) own.nanos("prefetch-timeout-base"),
                        (long) own.nanos("prefetch-timeout-per-ki-token"));
    }

    /** Returns the section with the size and the speed of the storage behind the host, below kv-cache; none without one. */
    static List<String> storageSections(Section own) {
        var storage = storage(own);
        return storage == null ? List.of() : List.of("tiers." + Section.nameOf(storage.source()));
    }

    /** Returns what a decode verifies, or null without drafts. */
    private SglangConfig.@Nullable Verification verification() {
        if (own.choice(ALGORITHM, Algorithm.class) == Algorithm.NONE) {
            return null;
        }
        int numSteps = own.wholeNumber("speculative-num-steps", 1, MAX_DRAFTS);
        boolean isChain = own.wholeNumber(TOPK, 1, MAX_DRAFTS) == 1;
        int numDraftTokens =
                own.numberOrAuto("speculative-num-draft-tokens", 2, MAX_DRAFTS).orElse(numSteps + 1);
        if (isChain && numDraftTokens != numSteps + 1) {
            throw own.unusable(
                    "speculative-num-draft-tokens",
                    "which is speculative-num-steps + 1 with " + TOPK + " = 1; leave it at auto");
        }
        return new SglangConfig.Verification(numSteps, numDraftTokens);
    }

    private SyntheticDrafts.@Nullable Spec drafts(SglangConfig.@Nullable Verification verification) {
        if (verification == null) {
            return null;
        }
        int numSteps = verification.numSteps();
        double length = own.number("simulate-acc-len", 1, 1.0 + numSteps);
        return new SyntheticDrafts.Spec(numSteps, 1, AcceptanceRates.ofLength(length, numSteps));
    }

    private SchedulePolicy schedulePolicy() {
        if (own.text("schedule-policy").equals("priority")) {
            throw own.unusable(
                    "schedule-policy",
                    "which SGLang's command line offers and its scheduler refuses: \"Unknown schedule_policy:"
                            + " policy='priority'\"; set enable-priority-scheduling = true");
        }
        return own.choice("schedule-policy", SchedulePolicy.class);
    }

    private SglangConfig.Priorities priorities() {
        return new SglangConfig.Priorities(
                own.bool("enable-priority-scheduling"),
                own.bool("schedule-low-priority-values-first"),
                !own.bool("disable-priority-preemption"),
                own.wholeNumber("priority-scheduling-preemption-threshold", 0, Integer.MAX_VALUE));
    }

    private SglangConfig.Estimate estimate() {
        return new SglangConfig.Estimate(
                own.number("init-new-token-ratio", 0, 1),
                own.number("min-new-token-ratio-factor", 0, 1),
                own.wholeNumber("new-token-ratio-decay-steps", 1, EngineSizes.MAX_TOKENS),
                own.wholeNumber("clip-max-new-tokens-estimation", 1, EngineSizes.MAX_TOKENS));
    }

    private SglangConfig.Queue queue() {
        return new SglangConfig.Queue(own.wholeNumber("max-queued-requests", 0, MAX_REQUESTS), (long)
                own.nanosOrOff("req-waiting-timeout").orElse(0));
    }

    private double gpuMemoryMib() {
        return hardware.gpuMemoryGib() * MIB_PER_GIB;
    }

    /**
     * Returns the share of a GPU's memory that is for weights and KV ({@code server_args.py}): without what is kept for
     * activations, for each GPU of a group, for CUDA graphs, of which DP attention needs more, and for a draft model, in MiB.
     */
    private double memFractionStatic(int activationTokens) {
        if (!own.text("mem-fraction-static").equals("auto")) {
            return own.number("mem-fraction-static", 0, 1);
        }
        double memory = gpuMemoryMib();
        if (memory == 0) {
            return DEFAULT_MEM_FRACTION;
        }
        int numRanks = hardware.lockstepSize();
        int maxGraphBatch = SglangExecution.maxGraphBatch(own, hardware);
        double reserved = 512
                + Math.max(activationTokens, 2048) * 1.5
                + numRanks * hardware.tensorParallelSize() * hardware.pipelineParallelSize() / 8.0 * 1024
                + 2.0 * maxGraphBatch;
        if (numRanks > 1) {
            reserved += (maxGraphBatch > LARGE_GRAPH ? 4.5 : 3) * numRanks * maxGraphBatch;
        }
        if (memory > LARGE_MIB) {
            reserved = Math.max(reserved, LEAST_RESERVED_MIB);
        }
        if (own.choice(ALGORITHM, Algorithm.class) != Algorithm.NONE) {
            reserved += RESERVED_FOR_DRAFTS_MIB;
        }
        return Math.round((memory - reserved) / memory * 1000) / 1000.0;
    }

    /** Returns in what the tokens of the KV cache have to find room: in pages, if anything is known of model and GPU. */
    private KvRoom room(int pageSize, double share) {
        if (!own.text("max-total-tokens").equals("auto")) {
            return KvRoom.GIVEN;
        }
        var model = hardware.model();
        boolean isKnown = model != null && hardware.gpuMemoryGib() > 0;
        double stateBytes = model == null ? 0 : maxStates() * model.stateBytesPerRank(hardware.tensorParallelSize());
        return new KvRoom(0, isKnown ? pageSize : UNKNOWN_BLOCK_SIZE, false, 0, stateBytes, share, KEYS);
    }

    private int maxTotalTokens(int pageSize, KvRoom room) {
        int tokens = own.numberOrAuto("max-total-tokens", 4 * pageSize, EngineSizes.MAX_TOKENS)
                .orElseGet(() -> (int) Math.min(
                        EngineSizes.MAX_TOKENS,
                        tokensOfFullPool((long) hardware.numGpuBlocks(own, room) * room.blockSize())));
        return tokens / pageSize * pageSize;
    }

    /**
     * Returns how many tokens the layers without a window get, if those with one have a pool of their own ({@code
     * set_num_token_hybrid}).
     *
     * @param numTokens tokens for which all layers would have room
     */
    private long tokensOfFullPool(long numTokens) {
        var model = windowedModel();
        if (model == null) {
            return numTokens;
        }
        int numWindowLayers = model.attention().numWindowLayers();
        return (long) (numTokens
                * model.numLayers()
                / (windowRatio() * numWindowLayers + model.numLayers() - numWindowLayers));
    }

    private double windowRatio() {
        return own.number("swa-full-tokens-ratio", 0, 1);
    }

    /** Returns the model if its layers with a window have a pool of their own, or null. */
    private @Nullable LlmSpec windowedModel() {
        var model = hardware.model();
        boolean isAuto = own.text(DISABLE_HYBRID).equals("auto");
        boolean isDisabled = isAuto ? model == null || !model.name().startsWith("gpt-oss") : own.bool(DISABLE_HYBRID);
        if (isDisabled || model == null || model.attention().window() == 0) {
            return null;
        }
        int numWindowLayers = model.attention().numWindowLayers();
        return numWindowLayers > 0 && numWindowLayers < model.numLayers() ? model : null;
    }

    private RadixConfig.@Nullable Window window(int pageSize, int maxTotalTokens) {
        var model = windowedModel();
        if (model == null) {
            return null;
        }
        int size = model.attention().window();
        double ratio = windowRatio();
        // A window, the page that is kept free, and a chunk of a page beside it.
        if ((int) (maxTotalTokens * ratio) / pageSize * pageSize <= size + 3 * pageSize) {
            throw own.unusable(
                    "swa-full-tokens-ratio",
                    "which leaves " + (int) (maxTotalTokens * ratio) + " of " + maxTotalTokens
                            + " tokens to layers with a window of " + size);
        }
        return new RadixConfig.Window(size, ratio);
    }

    private int chunkedPrefillSize(int pageSize, int numRanks) {
        if (own.text(CHUNKED_PREFILL_SIZE).equals("-1")) {
            return 0;
        }
        var ofAllRanks = own.numberOrAuto(CHUNKED_PREFILL_SIZE, 1, EngineSizes.MAX_TOKENS);
        var ofEach = engine.numberOrAuto(EngineSizes.MAX_NUM_BATCHED_TOKENS, 1, EngineSizes.MAX_TOKENS);
        int size = ofEach.isPresent() && ofAllRanks.isEmpty()
                ? ofEach.getAsInt()
                : ofAllRanks.orElseGet(() -> GpuSize.of(hardware.gpuMemoryGib()).chunkedPrefillSize()) / numRanks;
        if (size < pageSize) {
            throw own.unusable(
                    CHUNKED_PREFILL_SIZE,
                    size + " tokens" + (numRanks > 1 ? " for each of " + numRanks + " ranks" : "")
                            + ", which is less than a page (page-size = " + pageSize
                            + "): no prompt would ever start");
        }
        return size;
    }

    private OptionalInt givenMaxRunningRequests() {
        var ofAllRanks = own.numberOrAuto("max-running-requests", 1, MAX_REQUESTS);
        return ofAllRanks.isPresent()
                ? OptionalInt.of(Math.max(1, ofAllRanks.getAsInt() / hardware.lockstepSize()))
                : engine.numberOrAuto("max-num-seqs", 1, MAX_REQUESTS);
    }

    private int maxRunningRequests(int maxTotalTokens, int maxModelLen) {
        return givenMaxRunningRequests().orElseGet(() -> {
            int usual = defaultMaxRunningRequests(maxTotalTokens, maxModelLen);
            return hasStates() ? Math.min(usual, maxStates()) : usual;
        });
    }

    /** Returns how many requests have memory for their states, as without a prefix cache ({@code model_runner.py}). */
    private int maxStates() {
        return givenMaxRunningRequests().orElse(Math.max(1, DEFAULT_MAX_STATES / hardware.lockstepSize()));
    }

    /** As {@code model_runner.py} has it. */
    private static int defaultMaxRunningRequests(int maxTotalTokens, int maxModelLen) {
        return (int) Math.min(Math.max(maxTotalTokens * 512L / maxModelLen, 2048), 4096);
    }
}
