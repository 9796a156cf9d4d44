package understudy.kvcache.tier;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import java.util.Arrays;

/**
 * A list of different blocks that takes any of them out in constant time: doubly linked, by an array that grows with
 * the highest block. Chunks of one request have blocks in a row, and so have their links.
 */
final class BlockList {
    /** Node before the first block and after the last; that of a block is two more than its number. */
    private static final int END = 1;

    private static final int UNLINKED = 0;

    /** The node after each node, and the one before it. */
    private int[] links = new int[16];

    private int size;

    BlockList() {
        link(END, END);
    }

    int size() {
        return size;
    }

    boolean contains(int block) {
        int at = node(block) * 2;
        return at < links.length && links[at] != UNLINKED;
    }

    /** Returns the first block, or {@link TierBlocks#NONE}. */
    int first() {
        return next(END - 2);
    }

    /** Returns the block after one that is here, or {@link TierBlocks#NONE}. */
    int next(int block) {
        return links[node(block) * 2] - 2;
    }

    /** Adds a block to the end, or moves it there. */
    void addLast(int block) {
        remove(block);
        int node = node(block);
        if (node * 2 >= links.length) {
            links = Arrays.copyOf(links, Math.max(node * 2 + 2, links.length * 2));
        }
        link(links[END * 2 + 1], node);
        link(node, END);
        size++;
    }

    /** Removes a block if it is here, and returns whether it was. */
    boolean remove(int block) {
        if (!contains(block)) {
            return false;
        }
        int at = node(block) * 2;
        link(links[at + 1], links[at]);
        links[at] = UNLINKED;
        size--;
        return true;
    }

    void clear() {
        Arrays.fill(links, UNLINKED);
        link(END, END);
        size = 0;
    }

    IntList toList() {
        var blocks = new IntArrayList(size);
        for (int block = first(); block != TierBlocks.NONE; block = next(block)) {
            blocks.add(block);
        }
        return blocks;
    }

    private static int node(int block) {
        return block + 2;
    }

    private void link(int node, int successor) {
        links[node * 2] = successor;
        links[successor * 2 + 1] = node;
    }
}
