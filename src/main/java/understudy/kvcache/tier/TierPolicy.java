package understudy.kvcache.tier;

/** Choice of the chunk that leaves a full tier (vLLM {@code eviction_policy} of the offloading connector). */
public enum TierPolicy {
    /** Least recently used: the chunk that was stored, loaded or asked for longest ago. */
    LRU,
    /** Recency against frequency, balanced by the misses of each. */
    ARC;

    TierOrder create(TierBlocks blocks) {
        return switch (this) {
            case LRU -> new LruTierOrder(blocks);
            case ARC -> new ArcTierOrder(blocks);
        };
    }
}
