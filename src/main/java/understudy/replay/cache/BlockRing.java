package understudy.replay.cache;

import java.util.Arrays;

/** Queue of blocks with a capacity. If it is full, moving the first block to the end is one step. */
final class BlockRing {
    private final int capacity;
    private int[] blocks = {};
    private int first;
    private int size;

    BlockRing(int capacity) {
        this.capacity = capacity;
    }

    /**
     * Makes room for {@code numBlocks}, or the capacity if that is less; nothing was taken out before it has room for
     * that.
     */
    void reserve(int numBlocks) {
        blocks = Arrays.copyOf(blocks, Math.min(capacity, numBlocks));
    }

    int size() {
        return size;
    }

    boolean isFull() {
        return size == capacity;
    }

    int first() {
        return blocks[first];
    }

    /** Adds a block at the end; there must be room. */
    void add(int block) {
        // Not first + size, which may be more than an int holds.
        int end = first - capacity + size++;
        blocks[end < 0 ? end + capacity : end] = block;
    }

    /** Removes and returns the first block; there must be one. */
    int poll() {
        int block = blocks[first];
        advance();
        size--;
        return block;
    }

    /** Moves the first block to the end; the ring must be full. */
    void rotate() {
        advance();
    }

    /** Removes and returns the first block, and adds another one at the end; the ring must be full. */
    int replaceFirst(int block) {
        int replaced = blocks[first];
        blocks[first] = block;
        advance();
        return replaced;
    }

    private void advance() {
        first = first + 1 == capacity ? 0 : first + 1;
    }
}
