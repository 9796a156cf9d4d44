package understudy.kvcache.content;

import java.util.Arrays;
import understudy.prompt.HashPath;

/**
 * Cached blocks of consecutive places of a sequence, that the same requests hold: they are taken and released as one.
 *
 * <p>Each of them is the block that a lookup of its hash finds, and all of them belong to the same conversation.
 */
final class BlockRun {
    /** Shorter ones cost more than they save. */
    static final int MIN_LENGTH = 64;

    private HashPath path;
    private final int firstPlace;

    /** Block ids by place, from {@link #firstPlace} on; those behind the run's end do not count. */
    private int[] blocks;

    private int length;
    private int numHolders;

    /**
     * @param path hashes of the sequence up to the run's end
     * @param blocks ids in the order of the sequence; not to be changed any more
     */
    BlockRun(HashPath path, int firstPlace, int[] blocks, int numHolders) {
        this.path = path;
        this.firstPlace = firstPlace;
        this.blocks = blocks;
        this.numHolders = numHolders;
        length = blocks.length;
    }

    int length() {
        return length;
    }

    /** Returns the place in the sequence of its first block. */
    int firstPlace() {
        return firstPlace;
    }

    int first() {
        return blocks[0];
    }

    /** Returns a block by its distance from the first. */
    int block(int index) {
        return blocks[index];
    }

    /** Returns the ids of its blocks, and perhaps others behind them; not to be changed. */
    int[] blocks() {
        return blocks;
    }

    int numHolders() {
        return numHolders;
    }

    boolean isFree() {
        return numHolders == 0;
    }

    /** Adds a holder; returns whether it is the first. */
    boolean hold() {
        return numHolders++ == 0;
    }

    /** Drops a holder; returns whether it was the last. */
    boolean drop() {
        return --numHolders == 0;
    }

    /**
     * Copies its blocks, at least the first of which has the hash of a sequence there, to a table of that sequence, up to the
     * first that has not.
     *
     * @param limit the place at which the table ends
     * @return the place behind the last one that was copied
     */
    int copyEqual(HashPath sequence, int limit, int[] table) {
        int end = path.endOfEqual(sequence, firstPlace, Math.min(limit, firstPlace + length));
        System.arraycopy(blocks, 0, table, firstPlace, end - firstPlace);
        return end;
    }

    /** Returns how many of its first blocks are those of a table from a place on. */
    int numShared(int[] table, int from, int to) {
        int end = Math.min(to, from + length);
        int mismatch = Arrays.mismatch(table, from, end, blocks, 0, end - from);
        return mismatch < 0 ? end - from : mismatch;
    }

    /** Removes blocks from the end, at most all of them. */
    void shorten(int numRemoved) {
        length -= numRemoved;
        if (length < blocks.length / 4) {
            blocks = Arrays.copyOf(blocks, length);
        }
    }

    /** Removes the blocks from an index on, and returns them as a run of their own. */
    BlockRun split(int index) {
        var rest = new BlockRun(path, firstPlace + index, Arrays.copyOfRange(blocks, index, length), numHolders);
        shorten(length - index);
        return rest;
    }

    /**
     * Adds the blocks behind its own of the table that held it.
     *
     * @param longer hashes of that table's sequence up to {@code endPlace}
     */
    void grow(HashPath longer, int[] table, int endPlace) {
        path = longer;
        blocks = Arrays.copyOfRange(table, firstPlace, endPlace);
        length = blocks.length;
    }
}
