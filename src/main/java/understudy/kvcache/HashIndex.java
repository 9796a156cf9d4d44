package understudy.kvcache;

import java.util.Arrays;

/**
 * Finds small ids by block hash: open addressing over an array of ids, with the hashes kept by id.
 *
 * <p>Not a general map: its keys are hashes already, so their low bits are the slots, and with the ids alone in the probed
 * array four times as many entries share a cache line as in a map from {@code long} to {@code int}. Lookups of block
 * hashes are most of what a long prompt costs. Not thread safe.
 */
public final class HashIndex {
    /** The answer when nothing is found; no id. */
    public static final int NONE = 0;

    private int[] slots;
    private long[] hashes;
    private int size;

    /** Creates an empty index for ids from 1 to {@code maxId}; it grows beyond that on its own. */
    public HashIndex(int maxId) {
        slots = new int[Integer.highestOneBit(Math.max(8, maxId)) * 4];
        hashes = new long[maxId + 1];
    }

    /** Returns the number of hashes that can be found. */
    public int size() {
        return size;
    }

    /** Returns the id with this hash, or {@link #NONE}. */
    public int find(long hash) {
        int mask = slots.length - 1;
        int slot = (int) hash & mask;
        int id = slots[slot];
        while (id != NONE && hashes[id] != hash) {
            slot = (slot + 1) & mask;
            id = slots[slot];
        }
        return id;
    }

    /** Returns the hash that an id was given last, findable or not. */
    public long hashOf(int id) {
        return hashes[id];
    }

    /** Gives an id a hash without making it findable. */
    void setHash(int id, long hash) {
        hashes[id] = hash;
    }

    /** Makes an id findable by a hash by which none is findable yet. */
    public void put(int id, long hash) {
        if (id >= hashes.length) {
            hashes = Arrays.copyOf(hashes, Math.max(id + 1, hashes.length * 2));
        }
        if (++size > slots.length / 2) {
            grow();
        }
        hashes[id] = hash;
        place(id);
    }

    /** Makes an id findable in the place of another one with the same hash. */
    void replace(int id, int successor) {
        slots[slotOf(id)] = successor;
    }

    /** Makes a findable id unfindable. */
    public void remove(int id) {
        int mask = slots.length - 1;
        int gap = slotOf(id);
        // Ids behind the gap move up, unless that would put them before the slot where their search begins.
        for (int slot = (gap + 1) & mask; slots[slot] != NONE; slot = (slot + 1) & mask) {
            int home = (int) hashes[slots[slot]] & mask;
            if (((slot - home) & mask) >= ((slot - gap) & mask)) {
                slots[gap] = slots[slot];
                gap = slot;
            }
        }
        slots[gap] = NONE;
        size--;
    }

    /** Makes all ids unfindable. */
    public void clear() {
        Arrays.fill(slots, NONE);
        size = 0;
    }

    private int slotOf(int id) {
        int mask = slots.length - 1;
        int slot = (int) hashes[id] & mask;
        while (slots[slot] != id) {
            if (slots[slot] == NONE) {
                throw new IllegalArgumentException("id " + id + " is not findable");
            }
            slot = (slot + 1) & mask;
        }
        return slot;
    }

    private void place(int id) {
        int mask = slots.length - 1;
        int slot = (int) hashes[id] & mask;
        while (slots[slot] != NONE) {
            slot = (slot + 1) & mask;
        }
        slots[slot] = id;
    }

    private void grow() {
        int[] old = slots;
        slots = new int[old.length * 2];
        for (int id : old) {
            if (id != NONE) {
                place(id);
            }
        }
    }
}
