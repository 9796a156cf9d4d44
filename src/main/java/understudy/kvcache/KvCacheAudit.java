package understudy.kvcache;

/**
 * A recount of a KV cache from its block tables and its free queue.
 *
 * @param numBlocks physical blocks that are not out of use, the null block included
 * @param numFree different blocks in the free queue
 * @param numInUse different blocks in block tables
 * @param numHashed blocks that carry a hash; with sessions, those of cached prefixes
 * @param numBadRefCounts blocks whose reference count is not the number of tables that hold them
 * @param numBadFree entries of the free queue that are there twice, or in use, or the null block
 * @param numBadHashes blocks in tables that carry another hash than their tokens have, or that carry one behind a block
 *     that does not; and one more if the free blocks that carry one are not as many as were counted
 * @param numLeft blocks in use that a request has left behind which has ended: for another replica to read, or because
 *     a transfer still writes to them
 */
public record KvCacheAudit(
        int numBlocks,
        int numFree,
        int numInUse,
        int numHashed,
        int numBadRefCounts,
        int numBadFree,
        int numBadHashes,
        int numLeft) {

    /** Audit of a memory that has ended with its process. */
    public static final KvCacheAudit NOTHING = new KvCacheAudit(1, 0, 0, 0, 0, 0, 0);

    /** Makes the audit of a memory in which all blocks in use are those of requests that have not ended. */
    public KvCacheAudit(
            int numBlocks,
            int numFree,
            int numInUse,
            int numHashed,
            int numBadRefCounts,
            int numBadFree,
            int numBadHashes) {
        this(numBlocks, numFree, numInUse, numHashed, numBadRefCounts, numBadFree, numBadHashes, 0);
    }

    /** Returns whether there are blocks in use although no request is left. */
    public boolean leaks() {
        return numInUse > numLeft;
    }

    /** Returns whether every block but the null block is either free or in use, and every count and hash is true. */
    public boolean isConserved() {
        return numFree + numInUse == numBlocks - 1 && numBadRefCounts == 0 && numBadFree == 0 && numBadHashes == 0;
    }
}
