package understudy.engine;

import understudy.engine.RequestLimits.ContextOverflow;
import understudy.kvcache.GlobalPrefixLimits;
import understudy.kvcache.KvCacheConfig;
import understudy.kvcache.KvCacheConfigBuilder;
import understudy.kvcache.PrefixOptions;
import understudy.kvcache.PrefixUnit;
import understudy.kvcache.eviction.EvictionPolicy;
import understudy.kvcache.eviction.FreeOrder;
import understudy.prompt.BlockHasher;
import understudy.prompt.CborBlockHasher;
import understudy.prompt.Xxh3BlockHasher;
import understudy.settings.Section;

/** The section {@code kv-cache} of engines whose memory is made of blocks, and what {@code engine} says of it. */
public final class MemorySettings {
    private static final int MAX_STORED_TOKENS = 100_000_000;
    private static final int MAX_USES = 1_000_000;

    private MemorySettings() {}

    /** Work that requests of one step share. */
    public enum Dedup {
        AUTO,
        OFF,
        BLOCKS,
        PROMPT
    }

    private enum HashAlgorithm {
        XXH3,
        SHA256_CBOR,
        XXHASH_CBOR
    }

    /**
     * Reads sizes and switches of the memory.
     *
     * @param recordsEvents whether to collect changes of what is cached
     * @param unit part of a cached prefix that a lookup finds as a whole, or not at all
     * @param sharesWithinStep see {@link #sharesWithinStep}
     * @param dropsLastHit whether the last block of a hit is computed again, for a draft model
     */
    public static KvCacheConfig read(
            Section engine,
            Section kvCache,
            EngineSizes sizes,
            boolean recordsEvents,
            PrefixUnit unit,
            boolean sharesWithinStep,
            boolean dropsLastHit) {
        int numGpuBlocks = sizes.numGpuBlocks();
        int maxModelLen = sizes.maxModelLen(numGpuBlocks);
        return KvCacheConfigBuilder.builder()
                .hasher(hasher(kvCache, sizes.hashBlockSize()))
                .numGpuBlocks(numGpuBlocks)
                .enablePrefixCaching(kvCache.bool("enable-prefix-caching"))
                .maxModelLen(maxModelLen)
                .watermarkBlocks((int) (engine.number("watermark", 0, 1) * numGpuBlocks))
                .evictionPolicy(kvCache.choice("eviction-policy", EvictionPolicy.class))
                .freeOrder(kvCache.choice("free-order", FreeOrder.class))
                .promotesFullBlocks(kvCache.bool("promote-full-blocks"))
                .recordsEvents(recordsEvents)
                .prefixUnit(unit)
                .sharesWithinStep(sharesWithinStep)
                .prefixes(prefixOptions(engine, kvCache).withDropsLastHit(dropsLastHit))
                .connector(null)
                .groups(sizes.groupsOrNull(maxModelLen))
                .build();
    }

    /**
     * Reads whether requests of one step share anything.
     *
     * @param family name of the family
     * @param own the only value that the family takes besides {@code auto} and {@code off}
     */
    public static boolean sharesWithinStep(Section engine, Section kvCache, String family, Dedup own) {
        boolean cachesPrefixes = kvCache.bool("enable-prefix-caching");
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
    public static RequestLimits limits(Section engine, Section kvCache, KvCacheConfig memory, int maxTokensBeyondEnd) {
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

    /** Reads how prefixes are kept and found again. */
    private static PrefixOptions prefixOptions(Section engine, Section kvCache) {
        var sessions = kvCache.choice("sessions", PrefixOptions.SessionMode.class);
        var store = kvCache.section("global-prefix-store");
        boolean isStoreOn = store.bool("enabled");
        if (isStoreOn && sessions == PrefixOptions.SessionMode.OFF) {
            throw store.unusable(
                    "enabled", "but kv-cache.sessions is off: then all prefixes are found by content, in one store");
        }
        var limits = new GlobalPrefixLimits(
                store.wholeNumber("min-length", 1, MAX_STORED_TOKENS),
                store.wholeNumber("min-uses", 1, MAX_USES),
                store.wholeNumber("max-tokens", 1L, Long.MAX_VALUE));
        return new PrefixOptions(
                engine.choice("full-hit", PrefixOptions.FullHit.class),
                kvCache.bool("cache-generated-blocks"),
                sessions,
                isStoreOn ? limits : GlobalPrefixLimits.OFF);
    }
}
