package understudy.kvcache.eviction;

import java.util.Arrays;
import understudy.prompt.HashIndex;
import understudy.prompt.SessionTurn;

/**
 * The prefix-hash table: which physical block holds the content with a given hash.
 *
 * <p>Several blocks may hold the same content, since a block that becomes full keeps its id even if an identical one is
 * cached; lookups return the one inserted first (vLLM {@code BlockHashToBlockMap}). Blocks with equal hash form a ring
 * in order of insertion, so every operation takes constant time.
 *
 * <p>Content also belongs to the conversation that computed it, until another one has computed or used it. Nothing is
 * kept of that before the first request of a conversation.
 */
public final class PrefixTable {
    /** Block 0 is never given out; as an answer it means "no block". */
    public static final int NULL_BLOCK = HashIndex.NONE;

    /** In place of a conversation: content that several have used, or a request outside of any. */
    private static final long NOBODY = SessionTurn.NONE.sessionId();

    private final HashIndex firstBlocks;
    private final boolean[] hashed;
    private final int[] nextInRing;
    private final int[] previousInRing;
    private long[] owners = {};
    private int numHashed;

    public PrefixTable(int numBlocks) {
        firstBlocks = new HashIndex(numBlocks - 1);
        hashed = new boolean[numBlocks];
        nextInRing = new int[numBlocks];
        previousInRing = new int[numBlocks];
    }

    /** Returns the first block with this hash, or {@link #NULL_BLOCK} if there is none. */
    public int lookup(long hash) {
        return firstBlocks.find(hash);
    }

    /** Returns the same as {@link #lookup}; quicker where it was looked up after {@code previous} before. */
    public int lookupNext(int previous, long hash) {
        return firstBlocks.findNext(previous, hash);
    }

    int numBlocks() {
        return hashed.length;
    }

    public boolean isHashed(int block) {
        return hashed[block];
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
        for (int block = 0; block < hashed.length; block++) {
            if (hashed[block]) {
                hashes[size++] = hashOf(block);
            }
        }
        return hashes;
    }

    /**
     * Gives a block the hash of the content that it holds.
     *
     * @param conversation the conversation that has computed it, or -1 for none
     */
    public void insert(int block, long hash, long conversation) {
        if (hashed[block]) {
            throw new IllegalStateException("block " + block + " has a hash already");
        }
        hashed[block] = true;
        numHashed++;
        int first = firstBlocks.find(hash);
        if (first == NULL_BLOCK) {
            firstBlocks.put(block, hash);
            nextInRing[block] = block;
            previousInRing[block] = block;
            own(block, conversation);
        } else {
            firstBlocks.setHash(block, hash);
            int last = previousInRing[first];
            nextInRing[last] = block;
            previousInRing[block] = last;
            nextInRing[block] = first;
            previousInRing[first] = block;
            use(first, conversation);
        }
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

    /** Returns whether no other conversation has computed or used the content of the first block with its hash. */
    public boolean belongsTo(int first, long conversation) {
        return owners.length > 0 && owners[first] == conversation;
    }

    private void own(int block, long conversation) {
        if (owners.length == 0 && conversation != NOBODY) {
            owners = new long[hashed.length];
            Arrays.fill(owners, NOBODY);
        }
        if (owners.length > 0) {
            owners[block] = conversation;
        }
    }

    /** Removes the hash of a block that has one. */
    public void remove(int block) {
        int next = nextInRing[block];
        if (next == block) {
            firstBlocks.remove(block);
        } else {
            nextInRing[previousInRing[block]] = next;
            previousInRing[next] = previousInRing[block];
            if (firstBlocks.find(firstBlocks.hashOf(block)) == block) {
                firstBlocks.replace(block, next);
                own(next, owners.length > 0 ? owners[block] : NOBODY);
            }
        }
        hashed[block] = false;
        numHashed--;
    }

    public void clear() {
        firstBlocks.clear();
        Arrays.fill(hashed, false);
        numHashed = 0;
    }
}
