package understudy.replay.cache;

/**
 * The eviction order of vLLM's first prefix caching (PR #2762, {@code vllm/core/evictor.py}): evicts the block whose
 * last request is the oldest; of one request the block deepest in the prompt, so that a prefix is given up from its
 * end.
 *
 * <p>The blocks of a request stand in the list with the deepest first, so the next block of the prompt goes right
 * before the one accessed last. The live pool has the same order among free blocks; here blocks of the running request
 * are candidates too, after all others.
 */
public final class LruLongestPrefixCache extends LinkedCache {
    private int first = SlotLinks.NONE;
    /** The slot of the running request's deepest block so far. */
    private int deepest = SlotLinks.NONE;

    public LruLongestPrefixCache(int capacity) {
        super(capacity);
    }

    @Override
    public int accessPrompt(int[] blocks, int from, int to) {
        deepest = SlotLinks.NONE;
        return accessInOrder(blocks, from, to);
    }

    @Override
    boolean access(int block) {
        int slot = slotOf(block);
        if (slot >= 0) {
            moveToDeepest(slot);
            return true;
        }
        if (isFull()) {
            slot = first;
            evict(slot);
            moveToDeepest(slot);
        } else {
            slot = newSlot();
            addAsDeepest(slot);
        }
        put(block, slot);
        return false;
    }

    private void moveToDeepest(int slot) {
        if (slot != deepest) {
            first = order.remove(first, slot);
            addAsDeepest(slot);
        }
    }

    private void addAsDeepest(int slot) {
        if (deepest == SlotLinks.NONE) {
            first = order.append(first, slot);
        } else {
            order.insertBefore(slot, deepest);
            first = deepest == first ? slot : first;
        }
        deepest = slot;
    }
}
