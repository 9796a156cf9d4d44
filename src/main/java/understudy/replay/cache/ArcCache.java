package understudy.replay.cache;

import java.util.Arrays;

/**
 * ARC: one list of blocks accessed once, one of blocks accessed more often, both by recency, and a target for the size
 * of the first, which the ghosts of both lists push to where hits were missed.
 *
 * <p>Follows <a href="https://www.usenix.org/conference/fast-03/arc-self-tuning-low-overhead-replacement-cache">Megiddo
 * and Modha, FAST 2003</a>, figure 4, with the names of its lists and a real-valued target. The live pool cannot move
 * blocks in use between its lists, and so moves them, and the target, when they are released.
 */
public final class ArcCache extends BlockCache {
    private static final int T1 = 0;
    private static final int T2 = 1;
    private static final int B1 = 2;
    private static final int B2 = 3;

    private final int capacity;
    private final SlotLinks order = new SlotLinks();
    private final int[] oldest = {SlotLinks.NONE, SlotLinks.NONE, SlotLinks.NONE, SlotLinks.NONE};
    private final int[] sizes = new int[4];
    private int[] slotOf = {};
    private int[] blockIn = {};
    private byte[] listOf = {};
    private int numSlots;
    private int freeSlot = SlotLinks.NONE;
    private double targetOfT1;

    public ArcCache(int capacity) {
        this.capacity = capacity;
    }

    @Override
    boolean access(int block) {
        int slot = slotOf[block] - 1;
        if (slot < 0) {
            admit(block);
            return false;
        }
        switch (listOf[slot]) {
            case T1 -> move(slot, T1, T2);
            case T2 -> oldest[T2] = order.moveToTail(oldest[T2], slot);
            default -> {
                comeBack(slot);
                return false;
            }
        }
        return true;
    }

    @Override
    public int accessPrompt(int[] blocks, int from, int to) {
        return accessInOrder(blocks, from, to);
    }

    @Override
    public int size() {
        return sizes[T1] + sizes[T2];
    }

    @Override
    public void reserve(int numBlocks) {
        slotOf = Arrays.copyOf(slotOf, numBlocks);
        int length = (int) Math.min(2L * capacity, numBlocks);
        blockIn = Arrays.copyOf(blockIn, length);
        listOf = Arrays.copyOf(listOf, length);
        order.reserve(length);
    }

    /** The paper's cases II and III: a ghost comes back, and its list was too small. */
    private void comeBack(int slot) {
        int list = listOf[slot];
        int other = list == B1 ? B2 : B1;
        double step = sizes[list] >= sizes[other] ? 1 : (double) sizes[other] / sizes[list];
        if (list == B1) {
            targetOfT1 = Math.min(capacity, targetOfT1 + step);
        } else {
            targetOfT1 = Math.max(0, targetOfT1 - step);
        }
        replace(list == B2);
        move(slot, list, T2);
    }

    /** The paper's case IV: a block that nothing is known about. */
    private void admit(int block) {
        int inFirst = sizes[T1] + sizes[B1];
        int inAll = inFirst + sizes[T2] + sizes[B2];
        if (inFirst == capacity && sizes[T1] == capacity) {
            forget(T1);
        } else if (inFirst == capacity) {
            forget(B1);
            replace(false);
        } else if (inAll >= capacity) {
            if (inAll == 2L * capacity) {
                forget(B2);
            }
            replace(false);
        }
        add(block);
    }

    private void add(int block) {
        int slot = freeSlot == SlotLinks.NONE ? numSlots++ : freeSlot;
        freeSlot = SlotLinks.NONE;
        slotOf[block] = slot + 1;
        blockIn[slot] = block;
        append(slot, T1);
    }

    /** Evicts the oldest block of the list that is beyond its target. */
    private void replace(boolean missedInB2) {
        int numInT1 = sizes[T1];
        if (numInT1 >= 1 && (numInT1 > targetOfT1 || (missedInB2 && numInT1 == targetOfT1))) {
            move(oldest[T1], T1, B1);
        } else {
            move(oldest[T2], T2, B2);
        }
    }

    private void forget(int list) {
        freeSlot = oldest[list];
        slotOf[blockIn[freeSlot]] = 0;
        remove(freeSlot, list);
    }

    private void move(int slot, int from, int to) {
        remove(slot, from);
        append(slot, to);
    }

    private void remove(int slot, int list) {
        oldest[list] = order.remove(oldest[list], slot);
        sizes[list]--;
    }

    private void append(int slot, int list) {
        oldest[list] = order.append(oldest[list], slot);
        sizes[list]++;
        listOf[slot] = (byte) list;
    }
}
