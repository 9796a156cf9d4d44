package understudy.replay.cache;

import java.util.Arrays;

/**
 * A cache whose blocks stand in a list of slots. It keeps who is where; the order of the list, and so who goes next, is
 * the policy's.
 */
abstract class LinkedCache extends BlockCache {
    final SlotLinks order = new SlotLinks();
    private final int capacity;
    private int[] slotOf = {};
    private int[] blockIn = {};
    private int size;

    LinkedCache(int capacity) {
        this.capacity = capacity;
    }

    /** Returns the slot of a block, or a negative number if it is not resident. */
    final int slotOf(int block) {
        return slotOf[block] - 1;
    }

    final boolean isFull() {
        return size == capacity;
    }

    /** Returns a slot that was never used; there is one unless the cache is full. */
    final int newSlot() {
        return size++;
    }

    /** Makes the block in a slot absent. */
    final void evict(int slot) {
        slotOf[blockIn[slot]] = 0;
    }

    final void put(int block, int slot) {
        blockIn[slot] = block;
        slotOf[block] = slot + 1;
    }

    @Override
    public final int size() {
        return size;
    }

    @Override
    public final void reserve(int numBlocks) {
        slotOf = Arrays.copyOf(slotOf, numBlocks);
        int numSlots = Math.min(capacity, numBlocks);
        blockIn = Arrays.copyOf(blockIn, numSlots);
        order.reserve(numSlots);
    }
}
