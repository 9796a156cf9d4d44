package understudy.kvcache.tier;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.ints.IntLists;
import understudy.prompt.HashIndex;

/**
 * The blocks of a tier: which chunk each holds, and how many transfers use it. Blocks never used are given out first,
 * in order of their numbers, then those that were freed, last in first out. Takes memory for the blocks used so far.
 */
final class TierBlocks {
    /** In place of a block: none. */
    static final int NONE = -1;

    private static final int FREE = -2;
    private static final int PENDING = -1;
    private static final int IDLE = 0;

    private final int capacity;

    /** Blocks by key; its ids are the block numbers and 1, since 0 is none of its ids. */
    private final HashIndex index = new HashIndex(0);

    /** Of every block used so far: the number of its loads, {@link #PENDING} or {@link #FREE}. */
    private final IntArrayList users = new IntArrayList();

    private final IntArrayList freed = new IntArrayList();
    private int numPending;
    private int numInRead;

    TierBlocks(int capacity) {
        this.capacity = capacity;
    }

    int capacity() {
        return capacity;
    }

    int numAvailable() {
        return capacity - numUsed();
    }

    int numUsed() {
        return users.size() - freed.size();
    }

    int numPending() {
        return numPending;
    }

    int numInRead() {
        return numInRead;
    }

    int numIdle() {
        return numUsed() - numPending - numInRead;
    }

    /** Returns how many blocks have been used so far; they have the lowest numbers. */
    int numEverUsed() {
        return users.size();
    }

    /** Returns the block of a chunk, or {@link #NONE}. */
    int find(long key) {
        return index.find(key) - 1;
    }

    long keyOf(int block) {
        return index.hashOf(block + 1);
    }

    boolean isUsed(int block) {
        return users.getInt(block) != FREE;
    }

    boolean isPending(int block) {
        return users.getInt(block) == PENDING;
    }

    boolean isIdle(int block) {
        return users.getInt(block) == IDLE;
    }

    boolean isInRead(int block) {
        return users.getInt(block) > IDLE;
    }

    /** Gives a chunk that has none a block, which is being written from now on; one must be available. */
    int add(long key) {
        int block = users.size();
        if (block < capacity) {
            users.add(PENDING);
        } else {
            block = freed.popInt();
            users.set(block, PENDING);
        }
        index.put(block + 1, key);
        numPending++;
        return block;
    }

    /** Frees a block that is idle or being written. */
    void remove(int block) {
        numPending -= isPending(block) ? 1 : 0;
        index.remove(block + 1);
        users.set(block, FREE);
        freed.push(block);
    }

    /** Makes a block that is being written idle. */
    void complete(int block) {
        users.set(block, IDLE);
        numPending--;
    }

    /** Adds one load of a block that is not being written, and returns whether it was idle before. */
    boolean addLoad(int block) {
        int numLoads = users.getInt(block);
        users.set(block, numLoads + 1);
        numInRead += numLoads == IDLE ? 1 : 0;
        return numLoads == IDLE;
    }

    /** Ends one load of a block, and returns whether it is idle now. */
    boolean removeLoad(int block) {
        int numLoads = users.getInt(block) - 1;
        users.set(block, numLoads);
        numInRead -= numLoads == IDLE ? 1 : 0;
        return numLoads == IDLE;
    }

    void clear() {
        index.clear();
        users.clear();
        freed.clear();
        numPending = 0;
        numInRead = 0;
    }

    /** Returns the blocks that were freed and not used again, the next to be used last. */
    IntList freed() {
        return IntLists.unmodifiable(freed);
    }
}
