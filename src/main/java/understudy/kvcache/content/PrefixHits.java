package understudy.kvcache.content;

/** The leading blocks of a request that were found in the prefix table; reused from lookup to lookup. */
final class PrefixHits {
    private final BlockPool pool;
    private final boolean dropsLast;
    private int[] blocks = new int[64];
    private int numFound;
    private int size;

    PrefixHits(BlockPool pool, boolean dropsLast) {
        this.pool = pool;
        this.dropsLast = dropsLast;
    }

    /** Finds the blocks that are cached without a gap, {@code limit} at most. */
    void find(KvSequence sequence, int limit) {
        if (limit > blocks.length) {
            blocks = new int[limit * 2];
        }
        numFound = sequence.lookUp(pool, limit, blocks);
        size = numFound - (dropsLast && numFound > 0 ? 1 : 0);
    }

    int size() {
        return size;
    }

    /** Returns how many were found, the last of which may not count. */
    int numFound() {
        return numFound;
    }

    /** Returns how many are free: they would leave the free queue, so they count as needed capacity. */
    int countFree() {
        return pool.countFree(blocks, size);
    }

    /**
     * Puts them at the beginning of a request's block table.
     *
     * @return whether any of them belonged to the request's conversation alone
     */
    boolean attach(KvSequence sequence) {
        return sequence.attach(pool, blocks, size);
    }
}
