package understudy.replay.cache;

import java.util.Arrays;

/**
 * A binary heap of blocks by rank, least first. Ranks are kept beside the blocks, so that moving a block reads no
 * others.
 */
final class RankHeap {
    private static final int MIN_LENGTH = 16;

    private long[] ranks = new long[MIN_LENGTH];
    private int[] blocks = new int[MIN_LENGTH];
    private int size;

    /** Returns the block of the least rank; there must be one. */
    int first() {
        return blocks[0];
    }

    /** Returns the least rank; there must be one. */
    long firstRank() {
        return ranks[0];
    }

    void add(long rank, int block) {
        if (size == ranks.length) {
            ranks = Arrays.copyOf(ranks, size + size / 2);
            blocks = Arrays.copyOf(blocks, size + size / 2);
        }
        int at = size++;
        while (at > 0 && ranks[(at - 1) >>> 1] > rank) {
            copy((at - 1) >>> 1, at);
            at = (at - 1) >>> 1;
        }
        put(at, rank, block);
    }

    /** Gives the first block a rank that is no less. */
    void raiseFirst(long rank) {
        sink(rank, blocks[0]);
    }

    /** Removes and returns the block of the least rank; there must be one. */
    int poll() {
        int block = blocks[0];
        size--;
        sink(ranks[size], blocks[size]);
        return block;
    }

    /** Puts a block at the root, and down from there to where it belongs. */
    private void sink(long rank, int block) {
        int at = 0;
        int child = 1;
        while (child < size) {
            if (child + 1 < size && ranks[child + 1] < ranks[child]) {
                child++;
            }
            if (ranks[child] >= rank) {
                break;
            }
            copy(child, at);
            at = child;
            child = 2 * at + 1;
        }
        put(at, rank, block);
    }

    private void copy(int from, int to) {
        put(to, ranks[from], blocks[from]);
    }

    private void put(int at, long rank, int block) {
        ranks[at] = rank;
        blocks[at] = block;
    }
}
