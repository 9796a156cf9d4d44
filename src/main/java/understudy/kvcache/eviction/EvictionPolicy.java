package understudy.kvcache.eviction;

/** Choice of the free block that is given out next, and with it of the cached content that is lost. */
public enum EvictionPolicy {
    /** vLLM V1: the block that was released longest ago; of one request the last block first. */
    LRU,
    /** The first prefix caching of vLLM (PR #2762): the least recently used; of several, the last in its prompt. */
    LRU_LONGEST_PREFIX,
    /** Least frequently used: the block that the fewest requests have used. */
    LFU,
    /** First in, first out: the block that was cached first. */
    FIFO,
    /** S3-FIFO: blocks that were used only once go soon. */
    S3FIFO,
    /** ARC: recency against frequency, balanced by the misses of each. */
    ARC;

    public FreeBlockQueue create(PrefixTable prefixTable, BlockUse use, FreeOrder freeOrder) {
        return switch (this) {
            case LRU -> new LruFreeQueue(prefixTable, freeOrder);
            case LRU_LONGEST_PREFIX -> new LruLongestPrefixQueue(use);
            case LFU -> new PolicyFreeQueue(prefixTable, new LfuOrder(use));
            case FIFO -> new PolicyFreeQueue(prefixTable, new FifoOrder());
            case S3FIFO -> new PolicyFreeQueue(prefixTable, new S3FifoOrder(prefixTable, use));
            case ARC -> new PolicyFreeQueue(prefixTable, new ArcOrder(prefixTable, use));
        };
    }

    /** Returns whether the policy goes by the use of blocks, which must be recorded then. */
    public boolean goesByUse() {
        return this != LRU && this != FIFO;
    }
}
