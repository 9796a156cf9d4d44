package understudy.kvcache.eviction;

import java.util.Arrays;
import understudy.prompt.HashIndex;
import understudy.prompt.HashPath;
import understudy.prompt.SessionTurn;

/**
 * The prefix-hash table: which physical block holds the content with a given hash.
 *
 * <p>Several blocks may hold the same content, since a block that becomes full keeps its id even if an identical one is
 * cached; lookups return the one inserted first (vLLM {@code BlockHashToBlockMap}). Blocks with equal hash form a ring
 * in order of insertion, so every operation takes constant time; one alone is in none.
 *
 * <p>A search for the block of a sequence begins at its {@linkplain HashIndex#home home}; one that is known by its hash
 * alone was inserted that way.
 *
 * <p>Content also belongs to the conversation that computed it, until another one has computed or used it. Nothing is
 * kept of that before the first request of a conversation.
 */
public final class PrefixTable {
    /** Block 0 is never given out; as an answer it means "no block". */
    public static final int NULL_BLOCK = HashIndex.NONE;

    /** In place of a conversation: content that several have used, or a request outside of any. */
    private static final long NOBODY = SessionTurn.NONE.sessionId();

    private static final byte UNHASHED = 0;
    private static final byte ALONE = 1;
    private static final byte IN_RING = 2;

    /** Entries for the first blocks; memory comes with use. */
    private static final int FIRST_CAPACITY = 64;

    private final HashIndex firstBlocks;
    private final int numBlocks;

    /** States of the blocks that it has room for. */
    private byte[] states;

    /** Empty before there is a ring. */
    private int[] nextInRing = {};

    private int[] previousInRing = {};

    /** Empty before there is a conversation. */
    private long[] owners = {};

    private int numHashed;

    public PrefixTable(int numBlocks) {
        this.numBlocks = numBlocks;
        int capacity = Math.min(FIRST_CAPACITY, numBlocks);
        firstBlocks = new HashIndex(capacity - 1);
        states = new byte[capacity];
    }

    /** Returns the blocks from 0 on that there is room for: those that were ever given out, and some more. */
    public int capacity() {
        return states.length;
    }

    /** Makes room for a block that is given out the first time, and for others, so that it seldom has to. */
    public void makeRoom(int block) {
        int capacity = grown(block, numBlocks);
        states = Arrays.copyOf(states, capacity);
        if (nextInRing.length > 0) {
            nextInRing = Arrays.copyOf(nextInRing, capacity);
            previousInRing = Arrays.copyOf(previousInRing, capacity);
        }
        if (owners.length > 0) {
            int numOwners = owners.length;
            owners = Arrays.copyOf(owners, capacity);
            Arrays.fill(owners, numOwners, capacity, NOBODY);
        }
    }

    /** Returns the length of an array by block that has become too short for a block: twice as long, if so many there are. */
    static int grown(int block, int numBlocks) {
        return Math.min(numBlocks, block * 2);
    }

    /** Returns the first block with this hash, or {@link #NULL_BLOCK} if there is none. */
    public int lookup(long hash) {
        return firstBlocks.find(hash);
    }

    /** Returns the first block that was inserted with this hash and home, or {@link #NULL_BLOCK} if there is none. */
    public int lookup(long hash, int home) {
        return firstBlocks.find(hash, home);
    }

    /**
     * Returns the first block with the hash of a place in a sequence, or {@link #NULL_BLOCK} if there is none.
     *
     * @param previous what was found for the place before, or {@link #NULL_BLOCK}
     */
    public int lookupNext(int previous, HashPath path, int place) {
        return firstBlocks.findNext(previous, path, place);
    }

    int numBlocks() {
        return numBlocks;
    }

    public boolean isHashed(int block) {
        return block < states.length && states[block] != UNHASHED;
    }

    public long hashOf(int block) {
        return firstBlocks.hashOf(block);
    }

    /** Returns how many physical blocks carry a hash, duplicates included. */
    public int numHashedBlocks() {
        return numHashed;
    }

    int numHashes() {
        return firstBlocks.size();
    }

    public long[] hashes() {
        var hashes = new long[numHashed];
        int size = 0;
        for (int block = 0; block < states.length; block++) {
            if (isHashed(block)) {
                hashes[size++] = hashOf(block);
            }
        }
        return hashes;
    }

    /** Gives a block the hash of content that is known by its hash alone. */
    public void insert(int block, long hash, long conversation) {
        insert(block, hash, (int) hash, conversation);
    }

    /**
     * Gives a block the hash of the content that it holds.
     *
     * @param conversation the conversation that has computed it, or -1 for none
     * @return the first block with this hash, or {@link #NULL_BLOCK} if this is the first
     */
    public int insert(int block, long hash, int home, long conversation) {
        if (isHashed(block)) {
            throw new IllegalStateException("block " + block + " has a hash already");
        }
        numHashed++;
        int first = firstBlocks.putIfAbsent(block, hash, home);
        if (first == NULL_BLOCK) {
            states[block] = ALONE;
            own(block, conversation);
        } else {
            addToRing(first, block);
            use(first, conversation);
        }
        return first;
    }

    private void addToRing(int first, int block) {
        if (nextInRing.length == 0) {
            nextInRing = new int[states.length];
            previousInRing = new int[states.length];
        }
        int last = states[first] == ALONE ? first : previousInRing[first];
        nextInRing[last] = block;
        previousInRing[block] = last;
        nextInRing[block] = first;
        previousInRing[first] = block;
        states[first] = IN_RING;
        states[block] = IN_RING;
    }

    /**
     * Records that a conversation, or with -1 a request outside of any, uses the content of the first block with its
     * hash.
     */
    public void use(int first, long conversation) {
        if (owners.length > 0 && owners[first] != conversation) {
            owners[first] = NOBODY;
        }
    }

    /** Records that a conversation uses the contents of the first blocks of an array, all of which have the same owner. */
    public void useAll(int[] blocks, int count, long conversation) {
        if (owners.length > 0 && owners[blocks[0]] != conversation && owners[blocks[0]] != NOBODY) {
            for (int i = 0; i < count; i++) {
                owners[blocks[i]] = NOBODY;
            }
        }
    }

    /** Returns whether the contents of two blocks belong to the same conversation, or to none. */
    public boolean haveSameOwner(int block, int other) {
        return owners.length == 0 || owners[block] == owners[other];
    }

    /** Returns whether a block has a hash, and is the one that is found by it. */
    public boolean isFindable(int block) {
        return isHashed(block) && firstBlocks.isFindable(block);
    }

    /** Returns whether no other conversation has computed or used the content of the first block with its hash. */
    public boolean belongsTo(int first, long conversation) {
        return owners.length > 0 && owners[first] == conversation;
    }

    private void own(int block, long conversation) {
        if (owners.length == 0 && conversation != NOBODY) {
            owners = new long[states.length];
            Arrays.fill(owners, NOBODY);
        }
        if (owners.length > 0) {
            owners[block] = conversation;
        }
    }

    /** Removes the hash of a block that has one. */
    public void remove(int block) {
        if (states[block] == ALONE) {
            firstBlocks.remove(block);
        } else {
            int next = nextInRing[block];
            nextInRing[previousInRing[block]] = next;
            previousInRing[next] = previousInRing[block];
            states[next] = nextInRing[next] == next ? ALONE : IN_RING;
            if (firstBlocks.isFindable(block)) {
                firstBlocks.replace(block, next);
                own(next, owners.length > 0 ? owners[block] : NOBODY);
            }
        }
        states[block] = UNHASHED;
        numHashed--;
    }

    public void clear() {
        firstBlocks.clear();
        Arrays.fill(states, UNHASHED);
        numHashed = 0;
    }
}
