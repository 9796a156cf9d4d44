package understudy.kvcache;

import it.unimi.dsi.fastutil.ints.IntOpenHashSet;
import org.jspecify.annotations.Nullable;

/**
 * A recount of a KV cache from its block tables and free queue, made when a run ends.
 *
 * @param numBlocks physical blocks, the null block included
 * @param numFree blocks in the free queue
 * @param numInUse distinct blocks in block tables
 * @param numBadRefCounts blocks whose reference count differs from the number of tables that hold them
 */
public record KvCacheAudit(int numBlocks, int numFree, int numInUse, int numBadRefCounts) {

    /** Returns whether every block but the null block is either free or in use, with a true reference count. */
    public boolean isConserved() {
        return numFree + numInUse == numBlocks - 1 && numBadRefCounts == 0;
    }

    static KvCacheAudit of(BlockPool pool, @Nullable KvSequence[] sequences) {
        var refCounts = new int[pool.numBlocks()];
        for (var sequence : sequences) {
            for (int i = 0; sequence != null && i < sequence.numBlocks(); i++) {
                refCounts[sequence.block(i)]++;
            }
        }
        int numInUse = 0;
        int numBad = refCounts[BlockPool.NULL_BLOCK];
        for (int block = 1; block < refCounts.length; block++) {
            numInUse += refCounts[block] > 0 ? 1 : 0;
            numBad += refCounts[block] == pool.refCount(block) ? 0 : 1;
        }
        int numDistinctFree = new IntOpenHashSet(pool.freeOrder()).size();
        return new KvCacheAudit(pool.numBlocks(), numDistinctFree, numInUse, numBad);
    }
}
