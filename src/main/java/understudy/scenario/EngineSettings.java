package understudy.scenario;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigValue;
import com.typesafe.config.ConfigValueFactory;
import java.util.List;
import understudy.engine.ContextOverflow;
import understudy.engine.PlannerConfig;
import understudy.engine.PreemptionVictim;
import understudy.engine.PrefillMode;
import understudy.engine.RequestLimits;
import understudy.engine.RoseinferConfig;
import understudy.engine.SchedulerConfig;
import understudy.engine.queue.SchedulingPolicy;
import understudy.kvcache.KvCacheConfig;
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
 */
public record EngineSettings(EngineKind kind, PlannerConfig scheduler, KvCacheConfig kvCache, RequestLimits limits) {
    private static final int MAX_BLOCKS = 100_000_000;
    private static final int MAX_SEQS = 1_000_000;
    private static final int MAX_TOKENS = 100_000_000;
    private static final int MIN_MODEL_LEN = 2;

    /** Its {@code max_batch_size}. */
    private static final int ROSEINFER_BATCH_SIZE = 8;

    private static final String AUTO = "auto";
    private static final String MAX_NUM_BATCHED_TOKENS = "max-num-batched-tokens";
    private static final String MAX_MODEL_LEN = "max-model-len";
    private static final String MAX_NUM_SEQS = "max-num-seqs";
    private static final String NUM_GPU_BLOCKS = "num-gpu-blocks";

    private static final List<String> VLLM_KEYS = List.of(
            MAX_NUM_BATCHED_TOKENS,
            "long-prefill-token-threshold",
            "enable-chunked-prefill",
            "scheduler-reserve-full-isl",
            "watermark",
            "scheduling-policy",
            "preemption-victim",
            "async-scheduling",
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
        var memory = memory(kind, engine, kvCache, recordsKvEvents, deployment);
        var scheduler =
                kind == EngineKind.ROSEINFER ? roseinfer(engine, kvCache, memory) : vllm(engine, memory, deployment);
        return new EngineSettings(kind, scheduler, memory, limits(engine, kvCache, memory));
    }

    private static KvCacheConfig memory(
            EngineKind kind, Section engine, Section kvCache, boolean recordsKvEvents, Deployment deployment) {
        int blockSize = kvCache.wholeNumber("block-size", 1, 4096);
        int numGpuBlocks = numGpuBlocks(kind, engine, kvCache, blockSize, deployment);
        long maxKvTokens = kind.prefixUnit().maxTokens(numGpuBlocks, blockSize);
        if (maxKvTokens < MIN_MODEL_LEN) {
            throw kvCache.unusable(
                    NUM_GPU_BLOCKS,
                    "which leaves no room for a request: one block is vLLM's null block, and a block holds " + blockSize
                            + " tokens");
        }
        boolean cachesPrefixes = kvCache.bool("enable-prefix-caching");
        return new KvCacheConfig(
                hasher(kvCache, blockSize),
                numGpuBlocks,
                cachesPrefixes,
                maxModelLen(engine, maxKvTokens, deployment),
                (int) (engine.number("watermark", 0, 1) * numGpuBlocks),
                kvCache.choice("eviction-policy", EvictionPolicy.class),
                kvCache.choice("free-order", FreeOrder.class),
                kvCache.bool("promote-full-blocks"),
                recordsKvEvents,
                kind.prefixUnit(),
                kind.sharesWithinStep(engine, cachesPrefixes),
                PrefixSettings.read(engine, kvCache));
    }

    private static PlannerConfig roseinfer(Section engine, Section kvCache, KvCacheConfig memory) {
        String why = "which means nothing to engine.kind = roseinfer; leave the default";
        engine.requireDefaults(VLLM_KEYS, why);
        kvCache.requireDefaults(List.of("promote-full-blocks", "cache-generated-blocks", "sessions"), why);
        boolean isDefault = engine.text(MAX_NUM_SEQS).equals(AUTO);
        return new RoseinferConfig(
                isDefault ? ROSEINFER_BATCH_SIZE : engine.wholeNumber(MAX_NUM_SEQS, 1, MAX_SEQS),
                engine.choice("prefill", PrefillMode.class),
                memory.maxModelLen(),
                memory.blockSize(),
                memory.enablePrefixCaching(),
                memory.sharesWithinStep());
    }

    private static PlannerConfig vllm(Section engine, KvCacheConfig memory, Deployment deployment) {
        if (engine.choice("prefill", PrefillMode.class) == PrefillMode.SERIAL) {
            throw engine.unusable("prefill", "which needs engine.kind = roseinfer");
        }
        int maxModelLen = memory.maxModelLen();
        int maxNumSeqs = maxNumSeqs(engine, deployment);
        boolean chunksPrefills = engine.bool("enable-chunked-prefill");
        return new SchedulerConfig(
                maxNumSeqs,
                maxNumBatchedTokens(engine, maxNumSeqs, maxModelLen, chunksPrefills, deployment),
                maxModelLen,
                engine.wholeNumber("long-prefill-token-threshold", 0, MAX_TOKENS),
                chunksPrefills,
                engine.bool("scheduler-reserve-full-isl"),
                engine.choice("scheduling-policy", SchedulingPolicy.class),
                engine.choice("preemption-victim", PreemptionVictim.class),
                engine.bool("async-scheduling"),
                memory.blockSize(),
                memory.enablePrefixCaching(),
                memory.sharesWithinStep());
    }

    private static RequestLimits limits(Section engine, Section kvCache, KvCacheConfig memory) {
        int maxSessionTokens = kvCache.wholeNumber("max-session-tokens", 0, MAX_TOKENS);
        boolean isLimited = memory.findsBySession() && maxSessionTokens > 0;
        return new RequestLimits(
                memory.maxModelLen(),
                isLimited ? Math.min(maxSessionTokens, memory.maxTokens()) : memory.maxTokens(),
                engine.choice("context-window-exceeded", ContextOverflow.class),
                memory.blockSize());
    }

    /** Returns {@code config} with the values that {@code auto} stands for. */
    Config resolve(Config config) {
        var resolved = config.withValue("engine." + MAX_NUM_SEQS, number(scheduler.maxNumSeqs()))
                .withValue("engine." + MAX_MODEL_LEN, number(scheduler.maxModelLen()))
                .withValue("kv-cache." + NUM_GPU_BLOCKS, number(kvCache.numGpuBlocks()));
        return kind == EngineKind.VLLM
                ? resolved.withValue("engine." + MAX_NUM_BATCHED_TOKENS, number(scheduler.maxNumBatchedTokens()))
                : resolved;
    }

    private static ConfigValue number(int number) {
        return ConfigValueFactory.fromAnyRef(number);
    }

    private static int numGpuBlocks(
            EngineKind kind, Section engine, Section kvCache, int blockSize, Deployment deployment) {
        if (!derivesNumGpuBlocks(kvCache)) {
            return kvCache.wholeNumber(NUM_GPU_BLOCKS, kind.prefixUnit().minBlocks(), MAX_BLOCKS);
        }
        return Math.min(MAX_BLOCKS, deployment.numGpuBlocks(kvCache, tokensToReserve(engine, deployment), blockSize));
    }

    /** Returns the token budget that memory is set aside for when the number of blocks is derived. */
    public static int tokensToReserve(Section engine, Deployment deployment) {
        if (!engine.text(MAX_NUM_BATCHED_TOKENS).equals(AUTO)) {
            return engine.wholeNumber(MAX_NUM_BATCHED_TOKENS, 1, MAX_TOKENS);
        }
        int usual = deployment.defaultMaxNumBatchedTokens();
        if (engine.bool("enable-chunked-prefill")) {
            return usual;
        }
        boolean isGiven = !engine.text(MAX_MODEL_LEN).equals(AUTO);
        int maxModelLen = isGiven
                ? engine.wholeNumber(MAX_MODEL_LEN, MIN_MODEL_LEN, MAX_TOKENS)
                : deployment.defaultMaxModelLen();
        return Math.max(usual, maxModelLen);
    }

    /** Returns whether the number of blocks is left to the hardware. */
    public static boolean derivesNumGpuBlocks(Section kvCache) {
        return kvCache.text(NUM_GPU_BLOCKS).equals(AUTO);
    }

    /** As in vLLM, a default gives way to a smaller token budget, and a number of the user's does not. */
    private static int maxNumSeqs(Section engine, Deployment deployment) {
        if (!engine.text(MAX_NUM_SEQS).equals(AUTO)) {
            return engine.wholeNumber(MAX_NUM_SEQS, 1, MAX_SEQS);
        }
        boolean isBounded = !engine.text(MAX_NUM_BATCHED_TOKENS).equals(AUTO);
        int bound = isBounded ? engine.wholeNumber(MAX_NUM_BATCHED_TOKENS, 1, MAX_TOKENS) : MAX_SEQS;
        return Math.min(deployment.defaultMaxNumSeqs(), bound);
    }

    private static BlockHasher hasher(Section kvCache, int blockSize) {
        String seed = kvCache.text("hash-seed");
        return switch (kvCache.choice("hash-algo", HashAlgorithm.class)) {
            case XXH3 -> new Xxh3BlockHasher(blockSize);
            case SHA256_CBOR -> new CborBlockHasher(CborBlockHasher.Algorithm.SHA256_CBOR, blockSize, seed);
            case XXHASH_CBOR -> new CborBlockHasher(CborBlockHasher.Algorithm.XXHASH_CBOR, blockSize, seed);
        };
    }

    /** The defaults and checks of vLLM's {@code EngineArgs}. */
    private static int maxNumBatchedTokens(
            Section engine, int maxNumSeqs, int maxModelLen, boolean chunksPrefills, Deployment deployment) {
        if (engine.text(MAX_NUM_BATCHED_TOKENS).equals(AUTO)) {
            int usual = deployment.defaultMaxNumBatchedTokens();
            int enough = chunksPrefills ? usual : Math.max(maxModelLen, usual);
            return Math.max(maxNumSeqs, (int) Math.min((long) maxNumSeqs * maxModelLen, enough));
        }
        int maxNumBatchedTokens = engine.wholeNumber(MAX_NUM_BATCHED_TOKENS, 1, MAX_TOKENS);
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

    /** As in vLLM, a request of this length must fit into an empty cache. */
    private static int maxModelLen(Section engine, long maxKvTokens, Deployment deployment) {
        if (engine.text(MAX_MODEL_LEN).equals(AUTO)) {
            return (int) Math.min(deployment.defaultMaxModelLen(), maxKvTokens);
        }
        int maxModelLen = engine.wholeNumber(MAX_MODEL_LEN, MIN_MODEL_LEN, MAX_TOKENS);
        if (maxModelLen > maxKvTokens) {
            throw engine.unusable(
                    MAX_MODEL_LEN,
                    "but the KV cache holds " + maxKvTokens + " tokens; raise kv-cache.num-gpu-blocks or lower it");
        }
        return maxModelLen;
    }
}
