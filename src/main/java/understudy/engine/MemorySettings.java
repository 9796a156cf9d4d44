package understudy.engine;

import understudy.engine.RequestLimits.ContextOverflow;
import understudy.kvcache.KvBlocks;
import understudy.kvcache.KvBlocksBuilder;
import understudy.kvcache.KvCacheSpec;
import understudy.kvcache.eviction.EvictionPolicy;
import understudy.kvcache.eviction.FreeBlocks;
import understudy.kvcache.eviction.FreeOrder;
import understudy.prompt.BlockHasher;
import understudy.prompt.CborBlockHasher;
import understudy.prompt.Xxh3BlockHasher;
import understudy.settings.Section;

/** The section {@code kv-cache} of engines whose memory is made of blocks, and what {@code engine} says of it. */
public final class MemorySettings {
    private static final String PREFIX_CACHING = "enable-prefix-caching";
    private static final String STATE_DTYPE = "mamba-ssm-cache-dtype";

    private MemorySettings() {}

    /** Work that requests of one step share. */
    public enum Dedup {
        AUTO,
        OFF,
        BLOCKS,
        PROMPT
    }

    /** Format of the states of linear attention, in vLLM's and SGLang's words. */
    public enum StateDtype {
        AUTO,
        FLOAT32,
        FLOAT16,
        BFLOAT16
    }

    private enum HashAlgorithm {
        XXH3,
        SHA256_CBOR,
        XXHASH_CBOR
    }

    /**
     * Reads sizes and switches that each memory of blocks has.
     *
     * @param recordsEvents whether to collect changes of what is cached
     */
    public static KvBlocks blocks(Section engine, Section kvCache, EngineSizes sizes, boolean recordsEvents) {
        int numGpuBlocks = sizes.numGpuBlocks();
        int maxModelLen = sizes.maxModelLen(numGpuBlocks);
        return KvBlocksBuilder.builder()
                .hasher(hasher(kvCache, sizes.hashBlockSize()))
                .numGpuBlocks(numGpuBlocks)
                .enablePrefixCaching(cachesPrefixes(kvCache, sizes.hasStates()))
                .maxModelLen(maxModelLen)
                .watermarkBlocks((int) (engine.number("watermark", 0, 1) * numGpuBlocks))
                .recordsEvents(recordsEvents)
                .build();
    }

    /** Reads the order in which free blocks are given out. */
    public static FreeBlocks freeBlocks(Section kvCache) {
        return new FreeBlocks(
                kvCache.choice("eviction-policy", EvictionPolicy.class), kvCache.choice("free-order", FreeOrder.class));
    }

    /**
     * Reads whether prefixes are cached.
     *
     * @param hasStates whether the model has layers with a state, as Mamba's
     */
    public static boolean cachesPrefixes(Section kvCache, boolean hasStates) {
        return switch (kvCache.text(PREFIX_CACHING).replace('_', '-')) {
            case "true", "yes", "on" -> true;
            case "false", "no", "off" -> false;
            case "except-mamba" -> !hasStates;
            default -> throw kvCache.unusable(PREFIX_CACHING, "must be true, false or except-mamba");
        };
    }

    /** Reads the format of states that is asked for. */
    public static StateDtype stateDtype(Section kvCache) {
        return kvCache.choice(STATE_DTYPE, StateDtype.class);
    }

    /**
     * Reads the format of states as {@code CacheConfig.mamba_ssm_cache_dtype} of vLLM has it: as it is asked for, else {@code
     * float32} where the model's file says so, and {@code auto} where states have the format of all else.
     */
    public static String stateDtype(Section kvCache, Hardware hardware) {
        var asked = stateDtype(kvCache);
        var model = hardware.model();
        var linear = model == null ? null : model.linearAttention();
        boolean isFloat = asked == StateDtype.AUTO && linear != null && linear.bytesPerStateElement() == Float.BYTES;
        return Section.nameOf(isFloat ? StateDtype.FLOAT32 : asked);
    }

    /**
     * Reads whether requests of one step share anything.
     *
     * @param cachesPrefixes whether prefixes are cached
     * @param family name of the family
     * @param own the only value that the family takes besides {@code auto} and {@code off}
     */
    public static boolean sharesWithinStep(Section engine, boolean cachesPrefixes, String family, Dedup own) {
        var wanted = engine.choice("dedup", Dedup.class);
        if (wanted == Dedup.AUTO || wanted == Dedup.OFF) {
            return wanted == Dedup.AUTO;
        }
        if (wanted != own) {
            throw engine.unusable(
                    "dedup", "but engine.kind = " + family + " takes auto, off or " + Section.nameOf(own));
        }
        if (!cachesPrefixes) {
            throw engine.unusable("dedup", "which needs kv-cache.enable-prefix-caching = true");
        }
        return true;
    }

    /**
     * Reads which requests are too long for a memory.
     *
     * @param maxTokensBeyondEnd tokens beyond its longest answer for which a request may need blocks
     */
    public static RequestLimits limits(Section engine, Section kvCache, KvCacheSpec memory, int maxTokensBeyondEnd) {
        int maxSessionTokens = kvCache.wholeNumber("max-session-tokens", 0, EngineSizes.MAX_TOKENS);
        boolean isLimited = memory.findsBySession() && maxSessionTokens > 0;
        return new RequestLimits(
                memory.maxModelLen(),
                isLimited ? Math.min(maxSessionTokens, memory.maxTokens()) : memory.maxTokens(),
                engine.choice("context-window-exceeded", ContextOverflow.class),
                memory.blockSize(),
                maxTokensBeyondEnd);
    }

    /** Reads the hasher of blocks. */
    public static BlockHasher hasher(Section kvCache, int blockSize) {
        String seed = kvCache.text("hash-seed");
        return switch (kvCache.choice("hash-algo", HashAlgorithm.class)) {
            case XXH3 -> new Xxh3BlockHasher(blockSize);
            case SHA256_CBOR -> new CborBlockHasher(CborBlockHasher.Algorithm.SHA256_CBOR, blockSize, seed);
            case XXHASH_CBOR -> new CborBlockHasher(CborBlockHasher.Algorithm.XXHASH_CBOR, blockSize, seed);
        };
    }
}
