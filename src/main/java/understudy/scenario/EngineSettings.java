package understudy.scenario;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigValueFactory;
import java.util.List;
import understudy.engine.PlannerConfig;
import understudy.engine.PreemptionVictim;
import understudy.engine.RequestLimits;
import understudy.engine.RequestLimits.ContextOverflow;
import understudy.engine.RoseinferConfig;
import understudy.engine.RoseinferConfig.PrefillMode;
import understudy.engine.SchedulerConfig;
import understudy.engine.queue.SchedulingPolicy;
import understudy.engine.speculation.SpeculationConfig;
import understudy.kvcache.KvCacheConfig;
import understudy.kvcache.connector.ConnectorSpec;
import understudy.kvcache.eviction.EvictionPolicy;
import understudy.kvcache.eviction.FreeOrder;
import understudy.prompt.BlockHasher;
import understudy.prompt.CborBlockHasher;
import understudy.prompt.Xxh3BlockHasher;

/**
 * The sections {@code engine} and {@code kv-cache}.
 *
 * @param kind which engine a replica runs
 * @param scheduler settings of its scheduler
 * @param kvCache sizes and switches of its KV memory
 * @param limits which requests are too long, and what becomes of them
 * @param reservedTokens token budget that memory was set aside for when the number of blocks was derived, or 0 if it
 *     was not
 */
public record EngineSettings(
        EngineKind kind, PlannerConfig scheduler, KvCacheConfig kvCache, RequestLimits limits, int reservedTokens) {
    private static final List<String> VLLM_KEYS = List.of(
            EngineSizes.MAX_NUM_BATCHED_TOKENS,
            "long-prefill-token-threshold",
            "enable-chunked-prefill",
            "scheduler-reserve-full-isl",
            "watermark",
            "scheduling-policy",
            "preemption-victim",
            "async-scheduling",
            "decode-cohort-min-seqs",
            "full-hit",
            "context-window-exceeded");

    private enum HashAlgorithm {
        XXH3,
        SHA256_CBOR,
        XXHASH_CBOR
    }

    /** Reads both sections; what is {@code auto} follows from the hardware. */
    static EngineSettings read(Section engine, Section kvCache, boolean recordsKvEvents, Deployment deployment) {
        var kind = engine.choice("kind", EngineKind.class);
        var sizes = new EngineSizes(engine, kvCache, kind.prefixUnit(), deployment);
        var memory = memory(kind, engine, kvCache, recordsKvEvents, sizes);
        var scheduler = kind == EngineKind.ROSEINFER
                ? roseinfer(engine, kvCache, sizes)
                : vllm(engine, sizes, memory.maxModelLen());
        return new EngineSettings(kind, scheduler, memory, limits(engine, kvCache, memory), sizes.reservedTokens());
    }

    private static KvCacheConfig memory(
            EngineKind kind, Section engine, Section kvCache, boolean recordsKvEvents, EngineSizes sizes) {
        int numGpuBlocks = sizes.numGpuBlocks();
        boolean cachesPrefixes = kvCache.bool("enable-prefix-caching");
        return new KvCacheConfig(
                hasher(kvCache, sizes.blockSize()),
                numGpuBlocks,
                cachesPrefixes,
                sizes.maxModelLen(numGpuBlocks),
                (int) (engine.number("watermark", 0, 1) * numGpuBlocks),
                kvCache.choice("eviction-policy", EvictionPolicy.class),
                kvCache.choice("free-order", FreeOrder.class),
                kvCache.bool("promote-full-blocks"),
                recordsKvEvents,
                kind.prefixUnit(),
                kind.sharesWithinStep(engine, cachesPrefixes),
                PrefixSettings.read(engine, kvCache),
                null);
    }

    private static PlannerConfig roseinfer(Section engine, Section kvCache, EngineSizes sizes) {
        String why = "which means nothing to engine.kind = roseinfer; leave the default";
        engine.requireDefaults(VLLM_KEYS, why);
        kvCache.requireDefaults(List.of("promote-full-blocks", "cache-generated-blocks", "sessions"), why);
        return new RoseinferConfig(sizes.roseinferBatchSize(), engine.choice("prefill", PrefillMode.class));
    }

    private static PlannerConfig vllm(Section engine, EngineSizes sizes, int maxModelLen) {
        if (engine.choice("prefill", PrefillMode.class) == PrefillMode.SERIAL) {
            throw engine.unusable("prefill", "which needs engine.kind = roseinfer");
        }
        return new SchedulerConfig(
                sizes.maxNumSeqs(),
                sizes.maxNumBatchedTokens(maxModelLen),
                engine.wholeNumber("long-prefill-token-threshold", 0, EngineSizes.MAX_TOKENS),
                engine.bool("enable-chunked-prefill"),
                engine.bool("scheduler-reserve-full-isl"),
                engine.choice("scheduling-policy", SchedulingPolicy.class),
                engine.choice("preemption-victim", PreemptionVictim.class),
                engine.bool("async-scheduling"),
                engine.wholeNumber("decode-cohort-min-seqs", 0, EngineSizes.MAX_TOKENS),
                SpeculationConfig.NONE);
    }

    private static RequestLimits limits(Section engine, Section kvCache, KvCacheConfig memory) {
        int maxSessionTokens = kvCache.wholeNumber("max-session-tokens", 0, EngineSizes.MAX_TOKENS);
        boolean isLimited = memory.findsBySession() && maxSessionTokens > 0;
        return new RequestLimits(
                memory.maxModelLen(),
                isLimited ? Math.min(maxSessionTokens, memory.maxTokens()) : memory.maxTokens(),
                engine.choice("context-window-exceeded", ContextOverflow.class),
                memory.blockSize());
    }

    private static BlockHasher hasher(Section kvCache, int blockSize) {
        String seed = kvCache.text("hash-seed");
        return switch (kvCache.choice("hash-algo", HashAlgorithm.class)) {
            case XXH3 -> new Xxh3BlockHasher(blockSize);
            case SHA256_CBOR -> new CborBlockHasher(CborBlockHasher.Algorithm.SHA256_CBOR, blockSize, seed);
            case XXHASH_CBOR -> new CborBlockHasher(CborBlockHasher.Algorithm.XXHASH_CBOR, blockSize, seed);
        };
    }

    /** Returns the same settings with KV from elsewhere. */
    EngineSettings withConnector(ConnectorSpec connector) {
        return new EngineSettings(kind, scheduler, kvCache.withConnector(connector), limits, reservedTokens);
    }

    /** Returns the longest sequence in tokens, prompt and output together. */
    public int maxModelLen() {
        return kvCache.maxModelLen();
    }

    /** Returns the most tokens that one step computes. */
    public int maxNumBatchedTokens() {
        return scheduler.maxNumBatchedTokens(maxModelLen());
    }

    /** Returns the most tokens of one prompt that one step computes. */
    int maxPrefillChunkTokens() {
        int threshold = scheduler instanceof SchedulerConfig vllm ? vllm.longPrefillTokenThreshold() : 0;
        return threshold > 0 ? Math.min(threshold, maxNumBatchedTokens()) : maxNumBatchedTokens();
    }

    /** Returns {@code config} with the values that {@code auto} stands for. */
    Config resolve(Config config) {
        var resolved = with(config, "engine." + EngineSizes.MAX_NUM_SEQS, scheduler.maxNumSeqs());
        resolved = with(resolved, "engine." + EngineSizes.MAX_MODEL_LEN, maxModelLen());
        resolved = with(resolved, "kv-cache." + EngineSizes.NUM_GPU_BLOCKS, kvCache.numGpuBlocks());
        return kind == EngineKind.VLLM
                ? with(resolved, "engine." + EngineSizes.MAX_NUM_BATCHED_TOKENS, maxNumBatchedTokens())
                : resolved;
    }

    private static Config with(Config config, String key, int value) {
        return config.withValue(key, ConfigValueFactory.fromAnyRef(value));
    }
}
