package understudy.kvcache.eviction;

import it.unimi.dsi.fastutil.longs.LongLinkedOpenHashSet;

/** The hashes of contents that were evicted lately, oldest first. */
final class Ghosts {
    private final LongLinkedOpenHashSet hashes = new LongLinkedOpenHashSet();

    /** Adds the hash of an evicted block, if it has one, and forgets the oldest hashes beyond {@code limit}. */
    void add(PrefixTable prefixTable, int block, int limit) {
        if (prefixTable.isHashed(block)) {
            hashes.addAndMoveToLast(prefixTable.hashOf(block));
        }
        trim(limit);
    }

    void trim(int limit) {
        while (hashes.size() > limit) {
            hashes.removeFirstLong();
        }
    }

    /** Forgets the hash of a block, and returns whether it was here. */
    boolean remove(PrefixTable prefixTable, int block) {
        return prefixTable.isHashed(block) && hashes.remove(prefixTable.hashOf(block));
    }

    int size() {
        return hashes.size();
    }
}
