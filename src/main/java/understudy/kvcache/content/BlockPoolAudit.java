package understudy.kvcache.content;

import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.KvCacheAudit;
import understudy.kvcache.eviction.PrefixTable;

/** The recount of a block pool from the block tables of its requests and its free queue. */
final class BlockPoolAudit {
    private BlockPoolAudit() {}

    /** @param leftTables blocks that ended requests have left behind, for a while */
    static KvCacheAudit of(BlockPool pool, @Nullable HashedSequence[] sequences, List<int[]> leftTables) {
        var refCounts = new int[pool.numGpuBlocks()];
        int numLeft = 0;
        for (int[] table : leftTables) {
            for (int block : table) {
                numLeft += refCounts[block]++ == 0 ? 1 : 0;
            }
        }
        int numBadHashes = 0;
        for (var sequence : sequences) {
            if (sequence != null) {
                sequence.countReferences(refCounts);
                numBadHashes += sequence.countBadHashes(pool.prefixTable());
            }
        }
        numBadHashes += countFreeHashed(pool) == pool.counts().numCached() ? 0 : 1;
        int numInUse = 0;
        int numBadRefCounts = refCounts[PrefixTable.NULL_BLOCK];
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
                numBadHashes,
                numLeft);
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
            boolean isBad = isSeen[block] || refCounts[block] > 0 || block == PrefixTable.NULL_BLOCK;
            numBad += isBad ? 1 : 0;
            isSeen[block] = true;
        }
        return numBad;
    }
}
