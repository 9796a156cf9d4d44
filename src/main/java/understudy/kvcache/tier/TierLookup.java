package understudy.kvcache.tier;

/** Answer of a tier to the question whether it has a chunk. */
public enum TierLookup {
    MISS,
    /** It is being written; it can be loaded later. */
    PENDING,
    HIT
}
