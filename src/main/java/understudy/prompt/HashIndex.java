package understudy.prompt;

import java.util.Arrays;

/**
 * Finds small ids by block hash: open addressing over an array of slots, with the hashes kept by id.
 *
 * <p>Not a general map: its keys are hashes already, so the slot where a search begins, the home of a hash, is its low
 * bits, or what the caller says: the homes of consecutive blocks of a sequence are side by side, so that they come from
 * memory together. A search goes on in steps of one slot more than these are. At most every fourth slot is taken,
 * so that most searches end at the slot where they begin, and the processor guesses that they do. An entry holds an id,
 * its distance from that slot, and some bits of its hash, so that a search looks up whole hashes, each a cache miss in
 * a large index, only where they are as good as certain to be equal, and so that a removal moves its neighbours without
 * them. Lookups of block hashes are most of what a long prompt costs. Not thread safe.
 */
public final class HashIndex {
    /** The answer when nothing is found; no id. */
    public static final int NONE = 0;

    private static final int MIN_SLOTS_PER_ID = 4;

    /** How many consecutive blocks of a sequence have homes side by side, of which the last is followed by the first. */
    private static final int GROUP = 8;

    /** Slots from one step of a search to the next: to another group, and in the end to each slot, since it is odd. */
    private static final int STEP = GROUP + 1;

    /** The number whose product with {@link #STEP} is 1, modulo 2^32. */
    private static final int STEP_INVERSE = 0x38E3_8E39;

    /** The bits of an entry from this one on are its distance in steps, or {@link #FAR} if that is no less. */
    private static final int DISTANCE_BIT = 29;

    private static final int FAR = 7;
    private static final int ONE_FURTHER = 1 << DISTANCE_BIT;

    /** An id in the low bits, bits of the high half of its hash above, and its distance above these; 0 is a free slot. */
    private int[] slots = new int[64];

    private long[] hashes = {};

    /** The home of each id, whatever the number of slots. */
    private int[] homes = {};

    /** The bits of an entry that are an id. */
    private int idMask;

    /** The id found after each id the last time, or {@link #NONE}; what belongs together is often looked up together. */
    private int[] successors = {};

    /** One bit for each findable id. */
    private long[] findable = {};

    private int size;

    /** Sum of prefetched values, kept so that the compiler does not leave out the reads. */
    @SuppressWarnings("unused")
    private long touched;

    /** Creates an empty index for ids from 1 to {@code maxId}; it grows beyond that on its own, up to 2^29 - 1. */
    public HashIndex(int maxId) {
        makeRoom(maxId);
    }

    /** Returns the number of hashes that can be found. */
    public int size() {
        return size;
    }

    /** Returns the first block of a sequence whose home is beside that of a block. */
    public static int firstBeside(int block) {
        return block - block % GROUP;
    }

    /**
     * Returns the home of a block of a sequence.
     *
     * @param firstHash the hash of the first block whose home is beside it
     */
    public static int home(long firstHash, int block) {
        int first = (int) firstHash;
        return (first & -GROUP) | ((first + block) & (GROUP - 1));
    }

    /** Returns the id with this hash, or {@link #NONE}. */
    public int find(long hash) {
        return find(hash, (int) hash);
    }

    /** Returns the id that was put with this hash and home, or {@link #NONE}. */
    public int find(long hash, int home) {
        return slots[slotOf(hash, home)] & idMask;
    }

    /** Returns the slot of the id that was put with this hash and home, or the free one where the search for it ends. */
    private int slotOf(long hash, int home) {
        int mask = slots.length - 1;
        int slot = home & mask;
        int wanted = entry(NONE, hash);
        for (int entry = slots[slot]; entry != 0; entry = slots[slot]) {
            int id = entry & idMask;
            if (entry - id == wanted && hashes[id] == hash) {
                break;
            }
            slot = (slot + STEP) & mask;
            wanted = oneFurther(wanted);
        }
        return slot;
    }

    /**
     * Returns the id with this hash, or {@link #NONE}; quicker where the same one was found after {@code previous}
     * before.
     */
    public int findNext(int previous, long hash) {
        int guess = guess(previous, hash);
        return guess == NONE ? findBehind(previous, hash, (int) hash) : guess;
    }

    /**
     * Returns the id of a block of a sequence at its home, or {@link #NONE}.
     *
     * @param previous what was found for the block before, or {@link #NONE}
     */
    public int findNext(int previous, HashPath path, int block) {
        long hash = path.get(block);
        int guess = guess(previous, hash);
        return guess == NONE ? findBehind(previous, hash, home(path.get(firstBeside(block)), block)) : guess;
    }

    private int guess(int previous, long hash) {
        int guess = successors[previous];
        return isFindable(guess) && hashes[guess] == hash ? guess : NONE;
    }

    private int findBehind(int previous, long hash, int home) {
        int found = find(hash, home);
        successors[previous] = found;
        return found;
    }

    /**
     * Reads the slot at which the search for a hash begins. Before many insertions or removals it is quicker to read all
     * of their slots: the processor then waits for the memory once, and not once for each.
     */
    public void touch(long hash) {
        touched += slots[(int) hash & slots.length - 1];
    }

    /** Returns whether an id that has a hash is found by it. */
    public boolean isFindable(int id) {
        return (findable[id >> 6] & 1L << id) != 0;
    }

    private void setFindable(int id) {
        findable[id >> 6] |= 1L << id;
    }

    private void setUnfindable(int id) {
        findable[id >> 6] &= ~(1L << id);
    }

    /** Returns the entry of an id in the slot at which its search begins. */
    private int entry(int id, long hash) {
        return ((int) (hash >>> Integer.SIZE) & (ONE_FURTHER - 1) & ~idMask) | id;
    }

    /** Returns the entry that stands for the same one step further on. */
    private static int oneFurther(int entry) {
        return entry >>> DISTANCE_BIT == FAR ? entry : entry + ONE_FURTHER;
    }

    /** Returns how many steps behind the slot at which its search begins an entry is. */
    private int distance(int slot) {
        int distance = slots[slot] >>> DISTANCE_BIT;
        return distance < FAR ? distance : steps(homes[slots[slot] & idMask], slot);
    }

    /** Returns in how many steps a search comes from one slot, or home, to another one. */
    private int steps(int from, int to) {
        return (to - from) * STEP_INVERSE & slots.length - 1;
    }

    /** Returns the hash that an id was given last, findable or not. */
    public long hashOf(int id) {
        return hashes[id];
    }

    /** Gives an id a hash and a home without making it findable. */
    public void setHash(int id, long hash, int home) {
        makeRoom(id);
        hashes[id] = hash;
        homes[id] = home;
    }

    /** Makes an id findable by a hash by which none is findable yet. */
    public void put(int id, long hash) {
        put(id, hash, (int) hash);
    }

    /** Makes an id findable by a hash by which none is findable yet; the home must be the same for each search. */
    public void put(int id, long hash, int home) {
        setHash(id, hash, home);
        growIfFull();
        setFindable(id);
        place(id);
        size++;
    }

    /**
     * Gives an id a hash and a home, and makes it findable unless another one is found by these.
     *
     * @return the id that is found instead, or {@link #NONE}
     */
    public int putIfAbsent(int id, long hash, int home) {
        setHash(id, hash, home);
        growIfFull();
        int slot = slotOf(hash, home);
        if (slots[slot] != 0) {
            return slots[slot] & idMask;
        }
        slots[slot] = entry(id, hash) | Math.min(steps(home, slot), FAR) << DISTANCE_BIT;
        setFindable(id);
        size++;
        return NONE;
    }

    /** Makes room for an id, at least twice as much as there was; entries have more bits for ids then. */
    private void makeRoom(int id) {
        if (id >= ONE_FURTHER) {
            throw new IllegalArgumentException("id " + id + " is not below " + ONE_FURTHER);
        }
        if (id >= hashes.length) {
            int length = Integer.highestOneBit(Math.max(Long.SIZE / 2, id)) * 2;
            hashes = Arrays.copyOf(hashes, length);
            homes = Arrays.copyOf(homes, length);
            successors = Arrays.copyOf(successors, length);
            findable = Arrays.copyOf(findable, length / Long.SIZE);
            widenIds(length - 1);
        }
    }

    /** Gives entries more bits for ids, and so fewer of their hashes; they stay where they are. */
    private void widenIds(int newIdMask) {
        for (int slot = 0; slot < slots.length; slot++) {
            slots[slot] = (slots[slot] & ~newIdMask) | (slots[slot] & idMask);
        }
        idMask = newIdMask;
    }

    /** Makes an id findable in the place of another one with the same hash. */
    public void replace(int id, int successor) {
        remove(id);
        put(successor, hashes[id], homes[id]);
    }

    /** Makes a findable id unfindable. */
    public void remove(int id) {
        int mask = slots.length - 1;
        int slot = homes[id] & mask;
        if ((slots[slot] & idMask) == id && slots[slot + STEP & mask] == 0) {
            slots[slot] = 0;
            setUnfindable(id);
            size--;
        } else {
            closeGap(id);
        }
    }

    /** Makes a findable id unfindable that is not at home, or behind which others may be that are not. */
    private void closeGap(int id) {
        if (!isFindable(id)) {
            throw new IllegalArgumentException("id " + id + " is not findable");
        }
        int mask = slots.length - 1;
        int gap = homes[id] & mask;
        while ((slots[gap] & idMask) != id) {
            if (slots[gap] == 0) {
                throw new IllegalStateException("id " + id + " was given another hash while it was findable");
            }
            gap = (gap + STEP) & mask;
        }
        // Ids behind the gap move up, unless that would put them before the slot where their search begins.
        for (int slot = (gap + STEP) & mask; slots[slot] != 0; slot = (slot + STEP) & mask) {
            int distance = distance(slot) - steps(gap, slot);
            if (distance >= 0) {
                slots[gap] = (slots[slot] & (ONE_FURTHER - 1)) | (Math.min(distance, FAR) << DISTANCE_BIT);
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

    private void growIfFull() {
        if (size >= slots.length / MIN_SLOTS_PER_ID) {
            placeAll(slots.length * 2);
        }
    }

    private void place(int id) {
        int mask = slots.length - 1;
        int slot = homes[id] & mask;
        int entry = entry(id, hashes[id]);
        while (slots[slot] != 0) {
            slot = (slot + STEP) & mask;
            entry = oneFurther(entry);
        }
        slots[slot] = entry;
    }

    private void placeAll(int numSlots) {
        slots = new int[numSlots];
        for (int i = 0; i < findable.length; i++) {
            for (long bits = findable[i]; bits != 0; bits &= bits - 1) {
                place(i * Long.SIZE + Long.numberOfTrailingZeros(bits));
            }
        }
    }
}
