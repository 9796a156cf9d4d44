package understudy.app;

import understudy.engine.SchedulerConfig;
import understudy.engine.SchedulingPolicy;
import understudy.kvcache.KvCacheConfig;
import understudy.kvcache.Xxh3BlockHasher;

/**
 * The sections {@code engine} and {@code kv-cache}.
 *
 * @param scheduler settings of a replica's scheduler
 * @param kvCache sizes and switches of its KV memory
 */
record EngineSettings(SchedulerConfig scheduler, KvCacheConfig kvCache) {
    private static final int MAX_BLOCKS = 100_000_000;
    private static final int MAX_SEQS = 1_000_000;
    private static final int MAX_TOKENS = 100_000_000;
    private static final int DEFAULT_MAX_MODEL_LEN = 131_072;
    private static final String MAX_MODEL_LEN = "max-model-len";

    /** Reads both sections. */
    static EngineSettings read(Section engine, Section kvCache, boolean recordsKvEvents) {
        int blockSize = kvCache.wholeNumber("block-size", 1, 4096);
        int numGpuBlocks = kvCache.wholeNumber("num-gpu-blocks", 2, MAX_BLOCKS);
        boolean cachesPrefixes = kvCache.bool("enable-prefix-caching");
        int maxModelLen = maxModelLen(engine, (numGpuBlocks - 1L) * blockSize);
        int maxNumSeqs = engine.wholeNumber("max-num-seqs", 1, MAX_SEQS);
        int maxNumBatchedTokens = engine.wholeNumber("max-num-batched-tokens", 1, MAX_TOKENS);
        if (maxNumBatchedTokens < maxNumSeqs) {
            throw engine.unusable("max-num-batched-tokens", "must be at least max-num-seqs, which is " + maxNumSeqs);
        }
        boolean chunksPrefills = engine.bool("enable-chunked-prefill");
        if (!chunksPrefills && maxNumBatchedTokens < maxModelLen) {
            throw engine.unusable(
                    "max-num-batched-tokens",
                    "must be at least max-model-len, which is " + maxModelLen + ", if prefills are not chunked");
        }
        var scheduler = new SchedulerConfig(
                maxNumSeqs,
                maxNumBatchedTokens,
                maxModelLen,
                engine.wholeNumber("long-prefill-token-threshold", 0, MAX_TOKENS),
                chunksPrefills,
                engine.bool("scheduler-reserve-full-isl"),
                engine.choice("scheduling-policy", SchedulingPolicy.class),
                engine.bool("async-scheduling"),
                blockSize,
                cachesPrefixes);
        var hasher = new Xxh3BlockHasher(blockSize);
        return new EngineSettings(
                scheduler, new KvCacheConfig(hasher, numGpuBlocks, cachesPrefixes, maxModelLen, recordsKvEvents));
    }

    /** As in vLLM, a request of this length must fit into an empty cache. */
    private static int maxModelLen(Section engine, long maxKvTokens) {
        if (engine.text(MAX_MODEL_LEN).equals("auto")) {
            return (int) Math.min(DEFAULT_MAX_MODEL_LEN, maxKvTokens);
        }
        int maxModelLen = engine.wholeNumber(MAX_MODEL_LEN, 2, MAX_TOKENS);
        if (maxModelLen > maxKvTokens) {
            throw engine.unusable(
                    MAX_MODEL_LEN,
                    "but the KV cache holds " + maxKvTokens + " tokens; raise kv-cache.num-gpu-blocks or lower it");
        }
        return maxModelLen;
    }
}
