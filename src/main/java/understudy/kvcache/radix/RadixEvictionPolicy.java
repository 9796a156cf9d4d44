package understudy.kvcache.radix;

/** Order in which leaves of the tree are evicted (SGLang {@code mem_cache/evict_policy.py}). */
public enum RadixEvictionPolicy {
    /** Least recently used first. */
    LRU,
    /** Least often used first. */
    LFU,
    /** Those used once first, then least recently used. */
    SLRU,
    /** Lowest priority first, then least recently used. */
    PRIORITY,
    /** Oldest first. */
    FIFO,
    /** Youngest first. */
    FILO,
    /** Most recently used first. */
    MRU;

    /** Compares two nodes; the one that is evicted first comes first. */
    int compare(RadixNode a, RadixNode b) {
        return switch (this) {
            case LRU -> Long.compare(a.access, b.access);
            case LFU -> a.hits != b.hits ? Integer.compare(a.hits, b.hits) : Long.compare(a.access, b.access);
            case SLRU -> a.hits >= 2 != b.hits >= 2 ? (a.hits >= 2 ? 1 : -1) : Long.compare(a.access, b.access);
            case PRIORITY ->
                a.priority != b.priority ? Long.compare(a.priority, b.priority) : Long.compare(a.access, b.access);
            case FIFO -> Long.compare(a.created, b.created);
            case FILO -> Long.compare(b.created, a.created);
            case MRU -> Long.compare(b.access, a.access);
        };
    }
}
