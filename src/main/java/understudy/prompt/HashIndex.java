package understudy.prompt;

import java.util.Arrays;

/**
 * Finds small ids by block hash: open addressing over an array of slots, with the hashes kept by id.
 *
 * <p>Not a general map: its keys are hashes already, so their low bits are the slots. A slot holds an id and the low
 * half of its hash, so that a search looks up whole hashes, each a cache miss in a large index, only where they are
 * going to be equal, and so that a removal moves its neighbours without them. Lookups of block hashes are most of what
 * a long prompt costs. Not thread safe.
 */
public final class HashIndex {
    /** The answer when nothing is found; no id. */
    public static final int NONE = 0;

    /** An id in the low half, and the low half of its hash in the high one; 0 is a free slot. */
    private long[] slots;

    private long[] hashes;

    /** The id found after each id the last time, or {@link #NONE}; what belongs together is often looked up together. */
    private int[] successors;

    /** One bit for each findable id. */
    private long[] findable;

    private int size;

    /** Sum of prefetched values, kept so that the compiler does not leave out the reads. */
    @SuppressWarnings("unused")
    private long touched;

    /** Creates an empty index for ids from 1 to {@code maxId}; it grows beyond that on its own. */
    public HashIndex(int maxId) {
        slots = new long[Integer.highestOneBit(Math.max(8, maxId)) * 4];
        hashes = new long[maxId + 1];
        successors = new int[maxId + 1];
        findable = new long[maxId / Long.SIZE + 1];
    }

    /** Returns the number of hashes that can be found. */
    public int size() {
        return size;
    }

    /** Returns the id with this hash, or {@link #NONE}. */
    public int find(long hash) {
        int mask = slots.length - 1;
        int low = (int) hash;
        int slot = low & mask;
        for (long entry = slots[slot]; entry != 0; entry = slots[slot]) {
            if (lowHash(entry) == low && hashes[(int) entry] == hash) {
                return (int) entry;
            }
            slot = (slot + 1) & mask;
        }
        return NONE;
    }

    /**
     * Returns the id with this hash, or {@link #NONE}; quicker where the same one was found after {@code previous}
     * before.
     */
    public int findNext(int previous, long hash) {
        int guess = successors[previous];
        if (isFindable(guess) && hashes[guess] == hash) {
            return guess;
        }
        int found = find(hash);
        successors[previous] = found;
        return found;
    }

    /**
     * Finds the ids of hashes, in order, up to the first one that has none.
     *
     * @param ids takes up to {@code count} of them
     * @return how many were found
     */
    public int findAll(long[] wanted, int count, int[] ids) {
        int previous = NONE;
        for (int i = 0; i < count; i++) {
            previous = findNext(previous, wanted[i]);
            if (previous == NONE) {
                return i;
            }
            ids[i] = previous;
        }
        return count;
    }

    /**
     * Reads the slot at which the search for a hash begins. Before many insertions or removals it is quicker to read all
     * of their slots: the processor then waits for the memory once, and not once for each.
     */
    public void touch(long hash) {
        touched += slots[(int) hash & slots.length - 1];
    }

    private boolean isFindable(int id) {
        return (findable[id >> 6] & 1L << id) != 0;
    }

    private void setFindable(int id) {
        findable[id >> 6] |= 1L << id;
    }

    private void setUnfindable(int id) {
        findable[id >> 6] &= ~(1L << id);
    }

    private static int lowHash(long entry) {
        return (int) (entry >>> Integer.SIZE);
    }

    private static long entry(int id, long hash) {
        return hash << Integer.SIZE | id;
    }

    /** Returns the hash that an id was given last, findable or not. */
    public long hashOf(int id) {
        return hashes[id];
    }

    /** Gives an id a hash without making it findable. */
    public void setHash(int id, long hash) {
        makeRoom(id);
        hashes[id] = hash;
    }

    /** Makes an id findable by a hash by which none is findable yet. */
    public void put(int id, long hash) {
        makeRoom(id);
        if (++size > slots.length / 2) {
            grow();
        }
        hashes[id] = hash;
        setFindable(id);
        place(entry(id, hash));
    }

    private void makeRoom(int id) {
        if (id >= hashes.length) {
            int length = Math.max(id + 1, hashes.length * 2);
            hashes = Arrays.copyOf(hashes, length);
            successors = Arrays.copyOf(successors, length);
            findable = Arrays.copyOf(findable, length / Long.SIZE + 1);
        }
    }

    /** Makes an id findable in the place of another one with the same hash. */
    public void replace(int id, int successor) {
        slots[slotOf(id)] = entry(successor, hashes[id]);
        setUnfindable(id);
        setFindable(successor);
    }

    /** Makes a findable id unfindable. */
    public void remove(int id) {
        int mask = slots.length - 1;
        int gap = slotOf(id);
        // Ids behind the gap move up, unless that would put them before the slot where their search begins.
        for (int slot = (gap + 1) & mask; slots[slot] != 0; slot = (slot + 1) & mask) {
            int home = lowHash(slots[slot]) & mask;
            if (((slot - home) & mask) >= ((slot - gap) & mask)) {
                slots[gap] = slots[slot];
                gap = slot;
            }
        }
        slots[gap] = 0;
        setUnfindable(id);
        size--;
    }

    /** Makes all ids unfindable. */
    public void clear() {
        Arrays.fill(slots, 0);
        Arrays.fill(findable, 0);
        size = 0;
    }

    private int slotOf(int id) {
        int mask = slots.length - 1;
        long wanted = entry(id, hashes[id]);
        int slot = lowHash(wanted) & mask;
        while (slots[slot] != wanted) {
            if (slots[slot] == 0) {
                throw new IllegalArgumentException("id " + id + " is not findable");
            }
            slot = (slot + 1) & mask;
        }
        return slot;
    }

    private void place(long entry) {
        int mask = slots.length - 1;
        int slot = lowHash(entry) & mask;
        while (slots[slot] != 0) {
            slot = (slot + 1) & mask;
        }
        slots[slot] = entry;
    }

    private void grow() {
        long[] old = slots;
        slots = new long[old.length * 2];
        for (long entry : old) {
            if (entry != 0) {
                place(entry);
            }
        }
    }
}
