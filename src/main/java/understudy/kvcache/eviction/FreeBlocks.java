package understudy.kvcache.eviction;

/**
 * Order in which free blocks are given out.
 *
 * @param evictionPolicy which one is next
 * @param freeOrder place of released blocks in the free queue, with {@link EvictionPolicy#LRU}
 */
public record FreeBlocks(EvictionPolicy evictionPolicy, FreeOrder freeOrder) {
    /** The order of vLLM V1. */
    public static final FreeBlocks VLLM = new FreeBlocks(EvictionPolicy.LRU, FreeOrder.UNHASHED_FIRST);
}
