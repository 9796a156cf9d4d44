package understudy.kvcache.eviction;

/**
 * Queue of the blocks without references, in the order in which they are given out again. They may still carry a hash:
 * then they are cached, and giving one out evicts it.
 */
public interface FreeBlockQueue {

    /** Returns the number of free blocks. */
    int size();

    /** Removes and returns the block to use next; there must be one. */
    int poll();

    /** Removes a free block from the middle, because a request hit it. */
    void remove(int block);

    /**
     * Removes free blocks from the middle, because a request hit them.
     *
     * @param blocks block ids in the order of the request
     * @param count how many of them count
     */
    default void remove(int[] blocks, int count) {
        for (int i = 0; i < count; i++) {
            remove(blocks[i]);
        }
    }

    /**
     * Adds blocks that have just lost their last reference.
     *
     * @param blocks block ids of one request, its last block first
     * @param count how many of them count
     */
    void release(int[] blocks, int count);

    /** Returns the free blocks, next to be given out first; for tests and audits. */
    int[] order();
}
