package understudy.replay.cache;

import java.util.Arrays;

/**
 * The blocks that were evicted lately, oldest first, with removal from the middle. It has a capacity, of at least 1.
 */
final class GhostQueue {
    private final int capacity;
    private final SlotLinks order = new SlotLinks();
    private int[] blockIn = {};
    private int oldest = SlotLinks.NONE;
    /** The first free slot below {@link #numSlots}; each names the next one in {@link #blockIn}. */
    private int free = SlotLinks.NONE;

    private int numSlots;
    private int size;

    GhostQueue(int capacity) {
        this.capacity = capacity;
    }

    /** Makes room for {@code numBlocks}, or the capacity if that is less. */
    void reserve(int numBlocks) {
        int length = Math.min(capacity, numBlocks);
        blockIn = Arrays.copyOf(blockIn, length);
        order.reserve(length);
    }

    boolean isFull() {
        return size == capacity;
    }

    /** Returns the block that goes when the next one comes, if the queue is full. */
    int oldest() {
        return blockIn[oldest];
    }

    /** Adds a block that is not here, in the place of the oldest if the queue is full, and returns its slot. */
    int add(int block) {
        int slot;
        if (isFull()) {
            slot = oldest;
            oldest = order.next(slot);
        } else {
            slot = takeSlot();
            oldest = order.append(oldest, slot);
            size++;
        }
        blockIn[slot] = block;
        return slot;
    }

    /** Forgets the block in a slot. */
    void remove(int slot) {
        oldest = order.remove(oldest, slot);
        blockIn[slot] = free;
        free = slot;
        size--;
    }

    private int takeSlot() {
        if (free == SlotLinks.NONE) {
            return numSlots++;
        }
        int slot = free;
        free = blockIn[slot];
        return slot;
    }
}
