package understudy.kvcache.hybrid;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.Arrays;
import understudy.kvcache.content.BlockPool;
import understudy.kvcache.eviction.PrefixTable;

/** Block table of one request in one group. The null block stands for blocks that are out of reach. */
final class GroupTable {
    private static final int UNKNOWN = -1;
    private static final int NULL_BLOCK = PrefixTable.NULL_BLOCK;

    private int[] blocks = new int[8];
    private int size;
    private int numCached = UNKNOWN;

    /** Index of the block with the state before the running one, or -1. */
    private int previousState = -1;

    int size() {
        return size;
    }

    int block(int index) {
        return blocks[index];
    }

    boolean isNull(int index) {
        return blocks[index] == NULL_BLOCK;
    }

    /** Returns whether it was filled from the cache, or has put something into it. */
    boolean isKnown() {
        return numCached != UNKNOWN;
    }

    /** Returns how many of the leading blocks have been considered for the prefix table. */
    int numCached() {
        return Math.max(0, numCached);
    }

    void setNumCached(int count) {
        numCached = count;
    }

    int previousState() {
        return previousState;
    }

    void setPreviousState(int index) {
        previousState = index;
    }

    void append(int block) {
        if (size == blocks.length) {
            blocks = Arrays.copyOf(blocks, size + size / 2 + 8);
        }
        blocks[size++] = block;
    }

    void appendNulls(int count) {
        for (int i = 0; i < count; i++) {
            append(NULL_BLOCK);
        }
    }

    /** Releases the blocks before {@code end} that are there, without a gap, in favour of the null block. */
    void drop(int end, BlockPool pool) {
        int first = end;
        while (first > 0 && !isNull(first - 1)) {
            first--;
        }
        if (first < end) {
            pool.release(Arrays.copyOfRange(blocks, first, end), end - first, 0);
            Arrays.fill(blocks, first, end, NULL_BLOCK);
        }
    }

    /** Releases a block, if it is there, in favour of the null block. */
    void dropOne(int index, BlockPool pool) {
        if (!isNull(index)) {
            pool.release(blocks[index]);
            blocks[index] = NULL_BLOCK;
        }
    }

    void releaseTo(BlockPool pool, long lastStep) {
        int count = 0;
        for (int i = 0; i < size; i++) {
            if (!isNull(i)) {
                blocks[count++] = blocks[i];
            }
        }
        pool.release(blocks, count, lastStep);
        size = 0;
        numCached = UNKNOWN;
        previousState = -1;
    }

    void addTo(IntList list) {
        list.addElements(list.size(), blocks, 0, size);
    }
}
