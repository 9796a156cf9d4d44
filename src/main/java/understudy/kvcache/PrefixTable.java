package understudy.kvcache;

import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.util.Arrays;

/**
 * The prefix-hash table: which physical block holds the content with a given hash.
 *
 * <p>Several blocks may hold the same content, since a block that becomes full keeps its id even if an identical one is
 * cached; lookups return the one inserted first (vLLM {@code BlockHashToBlockMap}). Blocks with equal hash form a ring
 * in order of insertion, so every operation takes constant time.
 */
final class PrefixTable {
    private final Long2IntOpenHashMap firstBlockByHash = new Long2IntOpenHashMap();
    private final long[] hashes;
    private final boolean[] hashed;
    private final int[] nextInRing;
    private final int[] previousInRing;
    private int numHashed;

    PrefixTable(int numBlocks) {
        hashes = new long[numBlocks];
        hashed = new boolean[numBlocks];
        nextInRing = new int[numBlocks];
        previousInRing = new int[numBlocks];
        firstBlockByHash.defaultReturnValue(BlockPool.NULL_BLOCK);
    }

    /** Returns the first block with this hash, or {@link BlockPool#NULL_BLOCK} if there is none. */
    int lookup(long hash) {
        return firstBlockByHash.get(hash);
    }

    boolean isHashed(int block) {
        return hashed[block];
    }

    long hashOf(int block) {
        return hashes[block];
    }

    /** Returns how many physical blocks carry a hash, duplicates included. */
    int numHashedBlocks() {
        return numHashed;
    }

    int numHashes() {
        return firstBlockByHash.size();
    }

    void insert(int block, long hash) {
        if (hashed[block]) {
            throw new IllegalStateException("block " + block + " has a hash already");
        }
        hashed[block] = true;
        hashes[block] = hash;
        numHashed++;
        int first = firstBlockByHash.putIfAbsent(hash, block);
        if (first == BlockPool.NULL_BLOCK) {
            nextInRing[block] = block;
            previousInRing[block] = block;
        } else {
            int last = previousInRing[first];
            nextInRing[last] = block;
            previousInRing[block] = last;
            nextInRing[block] = first;
            previousInRing[first] = block;
        }
    }

    /** Takes the hash away from a block that has one. */
    void remove(int block) {
        long hash = hashes[block];
        int next = nextInRing[block];
        if (next == block) {
            firstBlockByHash.remove(hash);
        } else {
            nextInRing[previousInRing[block]] = next;
            previousInRing[next] = previousInRing[block];
            if (firstBlockByHash.get(hash) == block) {
                firstBlockByHash.put(hash, next);
            }
        }
        hashed[block] = false;
        numHashed--;
    }

    void clear() {
        firstBlockByHash.clear();
        Arrays.fill(hashed, false);
        numHashed = 0;
    }
}
