package understudy.kvcache;

import org.jspecify.annotations.Nullable;

/**
 * A recount of a KV cache from its block tables and its free queue.
 *
 * @param numBlocks physical blocks that are not out of use, the null block included
 * @param numFree different blocks in the free queue
 * @param numInUse different blocks in block tables
 * @param numHashed blocks that carry a hash; with sessions, those of cached prefixes
 * @param numBadRefCounts blocks whose reference count is not the number of tables that hold them
 * @param numBadFree entries of the free queue that are there twice, or in use, or the null block
 * @param numBadHashes blocks in tables that carry another hash than their tokens have, or that carry one behind a block that
 *     does not; and one more if the free blocks that carry one are not as many as were counted
 */
public record KvCacheAudit(
        int numBlocks,
        int numFree,
        int numInUse,
        int numHashed,
        int numBadRefCounts,
        int numBadFree,
        int numBadHashes) {

    /** A memory that is gone, with its process. */
    public static final KvCacheAudit NOTHING = new KvCacheAudit(1, 0, 0, 0, 0, 0, 0);

    /** Returns whether every block but the null block is either free or in use, and every count and hash is true. */
    public boolean isConserved() {
        return numFree + numInUse == numBlocks - 1 && numBadRefCounts == 0 && numBadFree == 0 && numBadHashes == 0;
    }

    static KvCacheAudit of(BlockPool pool, @Nullable KvSequence[] sequences) {
        var refCounts = new int[pool.numGpuBlocks()];
        int numBadHashes = 0;
        for (var sequence : sequences) {
            if (sequence != null) {
                countReferences(sequence, refCounts);
                numBadHashes += countBadHashes(sequence, pool.prefixTable());
            }
        }
        numBadHashes += countFreeHashed(pool) == pool.counts().numCached() ? 0 : 1;
        int numInUse = 0;
        int numBadRefCounts = refCounts[BlockPool.NULL_BLOCK];
        for (int block = 1; block < refCounts.length; block++) {
            numInUse += refCounts[block] > 0 ? 1 : 0;
            numBadRefCounts += refCounts[block] == pool.refCount(block) ? 0 : 1;
        }
        int numBadFree = countBadFree(pool.freeOrder(), refCounts);
        return new KvCacheAudit(
                pool.numBlocks(),
                pool.numFree() - numBadFree,
                numInUse,
                pool.prefixTable().numHashedBlocks(),
                numBadRefCounts,
                numBadFree,
                numBadHashes);
    }

    private static void countReferences(KvSequence sequence, int[] refCounts) {
        for (int i = 0; i < sequence.numBlocks(); i++) {
            refCounts[sequence.block(i)]++;
        }
    }

    private static int countBadHashes(KvSequence sequence, PrefixTable prefixTable) {
        int numBad = 0;
        boolean isBehindUnhashed = false;
        for (int i = 0; i < sequence.numBlocks(); i++) {
            int block = sequence.block(i);
            if (!prefixTable.isHashed(block)) {
                isBehindUnhashed = true;
            } else if (isBehindUnhashed || prefixTable.hashOf(block) != sequence.hashOf(i)) {
                numBad++;
            }
        }
        return numBad;
    }

    private static int countFreeHashed(BlockPool pool) {
        int count = 0;
        for (int block : pool.freeOrder()) {
            count += pool.prefixTable().isHashed(block) ? 1 : 0;
        }
        return count;
    }

    private static int countBadFree(int[] freeOrder, int[] refCounts) {
        var isSeen = new boolean[refCounts.length];
        int numBad = 0;
        for (int block : freeOrder) {
            boolean isBad = isSeen[block] || refCounts[block] > 0 || block == BlockPool.NULL_BLOCK;
            numBad += isBad ? 1 : 0;
            isSeen[block] = true;
        }
        return numBad;
    }
}
