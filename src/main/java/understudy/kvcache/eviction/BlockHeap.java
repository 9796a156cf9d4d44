package understudy.kvcache.eviction;

import it.unimi.dsi.fastutil.ints.IntArrays;
import it.unimi.dsi.fastutil.ints.IntComparator;
import java.util.Arrays;

/**
 * Blocks in the order of a comparator, with removal from the middle. A block's rank must not change while it is here, and
 * must differ from all others. Memory grows with the blocks that have been here.
 */
final class BlockHeap {
    private static final int NOT_IN = 0;

    private final IntComparator comparator;

    /** The blocks from place 1 on, each before those at twice its place and the next one. */
    private int[] blocks = new int[16];

    /** The place of each block, or {@link #NOT_IN}. */
    private int[] places = new int[16];

    private int size;

    BlockHeap(IntComparator comparator) {
        this.comparator = comparator;
    }

    void add(int block) {
        size++;
        blocks = IntArrays.grow(blocks, size + 1);
        places = IntArrays.grow(places, block + 1);
        moveUp(block, size);
    }

    void remove(int block) {
        int place = places[block];
        places[block] = NOT_IN;
        int last = blocks[size--];
        if (last == block) {
            return;
        }
        if (place > 1 && comparator.compare(last, blocks[place / 2]) < 0) {
            moveUp(last, place);
        } else {
            moveDown(last, place);
        }
    }

    boolean isEmpty() {
        return size == 0;
    }

    /** Removes and returns the first block. */
    int poll() {
        int block = blocks[1];
        remove(block);
        return block;
    }

    int size() {
        return size;
    }

    int[] order() {
        int[] order = Arrays.copyOfRange(blocks, 1, size + 1);
        IntArrays.quickSort(order, comparator);
        return order;
    }

    private void moveUp(int block, int from) {
        int place = from;
        while (place > 1 && comparator.compare(block, blocks[place / 2]) < 0) {
            put(blocks[place / 2], place);
            place /= 2;
        }
        put(block, place);
    }

    private void moveDown(int block, int from) {
        int place = from;
        while (place * 2 <= size) {
            int child = place * 2;
            if (child < size && comparator.compare(blocks[child + 1], blocks[child]) < 0) {
                child++;
            }
            if (comparator.compare(block, blocks[child]) < 0) {
                break;
            }
            put(blocks[child], place);
            place = child;
        }
        put(block, place);
    }

    private void put(int block, int place) {
        blocks[place] = block;
        places[block] = place;
    }
}
