package understudy.kvcache.eviction;

/**
 * Eviction policy: orders the cached blocks without references. A block comes in when it loses its last reference, and
 * goes out when a request hits it or when it is evicted; blocks in use are never here.
 */
interface CachedBlockOrder {

    /** Adds a block that has just lost its last reference; it may have been here before, with the same content. */
    void add(int block);

    /** Removes a block, because a request hit it. */
    void remove(int block);

    /** Removes and returns the block whose content goes first; there must be one. */
    int evict();

    int size();

    /**
     * Returns the blocks that are here, in the order in which they would go as far as that is settled already; for
     * tests and audits.
     */
    int[] order();
}
