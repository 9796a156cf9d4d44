package understudy.replay;

import it.unimi.dsi.fastutil.ints.IntArrays;
import java.util.Arrays;

/**
 * The blocks of a trace in the order of their last accesses: tells how many others were accessed since a block was (its
 * stack distance, Mattson et al., 1970), in time logarithmic in the number of blocks.
 *
 * <p>Every access takes the next of a row of slots and marks it, and a block's former slot loses its mark; a Fenwick
 * tree counts the marks behind a slot. When no slot is left, those without a mark are squeezed out, so memory grows
 * with the blocks and not with the accesses.
 */
final class RecencyStack {
    /** The distance of a block that was never accessed. */
    static final int NEVER = -1;

    private static final int MIN_SLOTS = 1 << 10;

    private int[] slots = new int[0];
    private int numBlocks;
    private int nextSlot = 1;
    private int[] blockAt = new int[MIN_SLOTS + 1];
    private int[] tree = new int[MIN_SLOTS + 1];

    /**
     * Records an access, and returns how many other blocks were accessed since the last one to this; {@link #NEVER} if
     * none.
     */
    int access(int block) {
        if (nextSlot == tree.length) {
            squeeze();
        }
        if (block >= slots.length) {
            slots = IntArrays.grow(slots, block + 1);
        }
        int slot = slots[block];
        int distance = slot == 0 ? NEVER : numBlocks - marksUpTo(slot);
        if (slot == 0) {
            numBlocks++;
        } else {
            blockAt[slot] = NEVER;
            mark(slot, -1);
        }
        slots[block] = nextSlot;
        blockAt[nextSlot] = block;
        mark(nextSlot, 1);
        nextSlot++;
        return distance;
    }

    int size() {
        return numBlocks;
    }

    private int marksUpTo(int slot) {
        int marks = 0;
        for (int i = slot; i > 0; i -= i & -i) {
            marks += tree[i];
        }
        return marks;
    }

    private void mark(int slot, int change) {
        for (int i = slot; i < tree.length; i += i & -i) {
            tree[i] += change;
        }
    }

    /** Moves the marked slots together, and leaves as many free ones behind them. */
    private void squeeze() {
        int marked = 0;
        for (int slot = 1; slot < nextSlot; slot++) {
            int block = blockAt[slot];
            if (block != NEVER) {
                marked++;
                slots[block] = marked;
                blockAt[marked] = block;
            }
        }
        nextSlot = marked + 1;
        int numSlots = Math.max(MIN_SLOTS, 2 * marked);
        blockAt = Arrays.copyOf(blockAt, numSlots + 1);
        tree = new int[numSlots + 1];
        Arrays.fill(tree, 1, nextSlot, 1);
        for (int i = 1; i <= numSlots; i++) {
            int parent = i + (i & -i);
            if (parent <= numSlots) {
                tree[parent] += tree[i];
            }
        }
    }
}
