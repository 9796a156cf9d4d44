package understudy.kvcache.hybrid;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import java.util.List;
import understudy.kvcache.KvGroups;
import understudy.kvcache.content.BlockPool;

/** Layers that need a window (vLLM {@code SlidingWindowManager}). */
final class SlidingWindowGroup extends GroupManager {
    /** Blocks of a whole window before the next token. */
    private final int numWindowBlocks;

    SlidingWindowGroup(int index, HybridConfig config, KvGroups groups, BlockPool pool, GroupKeys keys) {
        super(index, config, groups, pool, keys);
        numWindowBlocks = group.numBlocks(group.span() - 1);
    }

    /** Finds the last run of blocks that covers a window and ends where it may; or the one at the very beginning. */
    @Override
    int find(HybridSequence sequence, int[] equals, int limit, boolean drops, List<IntArrayList> hits) {
        int numWanted = numWindowBlocks + (drops ? 1 : 0);
        GroupHits.fillWithNulls(equals, limit / blockSize, hits);
        var found = new int[equals.length];
        int run = 0;
        int size = -1;
        for (int i = limit / blockSize - 1; i >= 0 && size < 0; i--) {
            if (!lookUp(sequence, equals, i, found)) {
                run = 0;
            } else if (run > 0 || isAligned(drops ? i : i + 1)) {
                GroupHits.set(equals, i, found, hits);
                run++;
                size = run >= numWanted ? i + run : size;
            }
        }
        size = size < 0 ? alignedDown(run) : size;
        size = drops && size > 0 ? alignedDown(size - 1) : size;
        GroupHits.cut(equals, size, hits);
        return size * blockSize;
    }

    private boolean isAligned(int numBlocks) {
        return numBlocks * blockSize % alignment == 0;
    }

    private int alignedDown(int numBlocks) {
        int size = numBlocks;
        while (!isAligned(size)) {
            size--;
        }
        return size;
    }

    @Override
    boolean keeps(HybridSequence sequence, int blockIndex) {
        int numKept = numWindowBlocks + numDropped;
        int interval = retentionInterval == KvGroups.RETAIN_ALL ? alignment : retentionInterval;
        int period = interval / blockSize;
        if (interval > 0
                && (numKept >= period
                        || (blockIndex >= numDropped && (blockIndex - numDropped) % period >= period - numKept))) {
            return true;
        }
        return retentionInterval != KvGroups.RETAIN_ALL
                && (isBefore(sequence.numPromptTokens() - 1, blockIndex, numKept)
                        || (sequence.numJunctionTokens() > 0
                                && isBefore(sequence.numJunctionTokens(), blockIndex, numKept)));
    }

    /** Returns whether a block is one of those that it takes to go on at a point. */
    private boolean isBefore(int point, int blockIndex, int numKept) {
        int end = point / alignment * alignment / blockSize + numDropped;
        return end - numKept <= blockIndex && blockIndex < end;
    }
}
