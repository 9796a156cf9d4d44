package understudy.kvcache.hybrid;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import java.util.List;
import understudy.kvcache.KvGroups;
import understudy.kvcache.content.BlockPool;

/** Layers with a state, which is kept where a block ends (vLLM {@code MambaManager}, cache mode {@code align}). */
final class StateGroup extends GroupManager {
    StateGroup(int index, HybridConfig config, KvGroups groups, BlockPool pool, GroupKeys keys) {
        super(index, config, groups, pool, keys);
    }

    @Override
    int find(HybridSequence sequence, int[] equals, int limit, boolean drops, List<IntArrayList> hits) {
        var found = new int[equals.length];
        for (int i = limit / blockSize - 1; i >= 0; i--) {
            if ((i + 1) * blockSize % alignment == 0 && lookUp(sequence, equals, i, found)) {
                GroupHits.fillWithNulls(equals, i + 1, hits);
                GroupHits.set(equals, i, found, hits);
                return (i + 1) * blockSize;
            }
        }
        GroupHits.fillWithNulls(equals, 0, hits);
        return 0;
    }

    @Override
    boolean keeps(HybridSequence sequence, int blockIndex) {
        if (retentionInterval == KvGroups.RETAIN_ALL) {
            return true;
        }
        int period = retentionInterval / blockSize;
        return (retentionInterval > 0 && (period <= 1 || (blockIndex + 1) % period == 0))
                || isBefore(sequence.numPromptTokens() - 1, blockIndex)
                || isBefore(sequence.numJunctionTokens(), blockIndex);
    }

    private boolean isBefore(int point, int blockIndex) {
        return point / alignment * alignment / blockSize - 1 == blockIndex;
    }

    /** Needs one block if it grows at all; and waits for a state that is computed in this very step. */
    @Override
    int numNeeded(HybridSequence sequence, IntList hits, int numTokens, int numComputed, boolean isWhole) {
        int numHits = hits.size();
        if (numHits > 0 && keys.isFresh(pool.prefixTable(), hits.getInt(numHits - 1))) {
            return pool.numGpuBlocks() + 1;
        }
        int numMissing = group.numBlocks(numTokens) - numHits - table(sequence).size();
        return Math.min(1, numMissing) + countFree(hits, 0);
    }

    /** Appends one block, for the running state, whatever the length. */
    @Override
    void grow(HybridSequence sequence, int numTokens) {
        var table = table(sequence);
        int numMissing = group.numBlocks(numTokens) - table.size();
        if (numMissing > 0) {
            table.setPreviousState(table.size() - 1);
            table.appendNulls(numMissing - 1);
            table.append(pool.take());
        }
    }

    @Override
    void dropSkipped(HybridSequence sequence, int numComputed) {
        super.dropSkipped(sequence, numComputed);
        var table = table(sequence);
        int previous = table.previousState();
        if (previous >= 0 && previous < group.numBlocks(numComputed) - 1) {
            table.dropOne(previous, pool);
        }
    }
}
