package understudy.replay.cache;

/**
 * Least recently used: evicts the block whose last access is the oldest. Every access is an instant of its own, so of
 * one prompt the first block goes first.
 *
 * <p>The live pool goes by release instead, the last block of a request first, as vLLM does: it knows when a request
 * ends, and a trace does not.
 */
public final class LruCache extends LinkedCache {
    private int oldest = SlotLinks.NONE;

    public LruCache(int capacity) {
        super(capacity);
    }

    @Override
    boolean access(int block) {
        int slot = slotOf(block);
        if (slot >= 0) {
            oldest = order.moveToTail(oldest, slot);
            return true;
        }
        if (isFull()) {
            // The newcomer takes the slot of the victim, at the end of the list.
            slot = oldest;
            evict(slot);
            oldest = order.next(slot);
        } else {
            slot = newSlot();
            oldest = order.append(oldest, slot);
        }
        put(block, slot);
        return false;
    }

    @Override
    public int accessPrompt(int[] blocks, int from, int to) {
        return accessInOrder(blocks, from, to);
    }
}
