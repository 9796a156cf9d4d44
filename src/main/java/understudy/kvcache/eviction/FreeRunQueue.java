package understudy.kvcache.eviction;

/**
 * Queue of free blocks in which those of a request that were released together stay together, the last one first. They are
 * removed and released again in constant time, as a run.
 */
public interface FreeRunQueue extends FreeBlockQueue {
    /** Returns the block to use next, or {@link PrefixTable#NULL_BLOCK} if none is free. */
    int peek();

    /**
     * Removes free blocks of which each was released directly before the one in front of it.
     *
     * @param blocks block ids in the order of the request, of which those from {@code from} to {@code to} count
     */
    void removeRun(int[] blocks, int from, int to);

    /**
     * Adds blocks that have just lost their last reference; they were removed as a run, or are a part of one.
     *
     * @param blocks block ids in the order of the request, all with a hash
     * @param count how many of them count
     */
    void releaseRun(int[] blocks, int count);
}
