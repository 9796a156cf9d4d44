package understudy.kvcache.replay;

import java.util.Arrays;

/**
 * Least recently used: evicts the block whose last access is the oldest. Every access is an instant of its own, so of one
 * prompt the first block goes first.
 *
 * <p>The live pool goes by release instead, the last block of a request first, as vLLM does: it knows when a request ends,
 * and a trace does not.
 */
final class LruCache extends BlockCache {
    private final int capacity;
    private final SlotLinks order = new SlotLinks();
    private int[] slotOf = {};
    private int[] blockIn = {};
    private int oldest = SlotLinks.NONE;
    private int size;

    LruCache(int capacity) {
        this.capacity = capacity;
    }

    @Override
    boolean access(int block) {
        int slot = slotOf[block] - 1;
        if (slot >= 0) {
            oldest = order.moveToTail(oldest, slot);
            return true;
        }
        if (size < capacity) {
            slot = size++;
            oldest = order.append(oldest, slot);
        } else {
            // The newcomer takes the slot of the victim, at the end of the list.
            slot = oldest;
            slotOf[blockIn[slot]] = 0;
            oldest = order.next(slot);
        }
        blockIn[slot] = block;
        slotOf[block] = slot + 1;
        return false;
    }

    @Override
    int accessPrompt(int[] blocks, int from, int to) {
        return accessInOrder(blocks, from, to);
    }

    @Override
    int size() {
        return size;
    }

    @Override
    void reserve(int numBlocks) {
        slotOf = Arrays.copyOf(slotOf, numBlocks);
        int numSlots = Math.min(capacity, numBlocks);
        blockIn = Arrays.copyOf(blockIn, numSlots);
        order.reserve(numSlots);
    }
}
