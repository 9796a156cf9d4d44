package understudy.kvcache.session;

import it.unimi.dsi.fastutil.longs.Long2IntLinkedOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectLinkedOpenHashMap;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Global prefix store of a session cache: prefixes that requests share whatever their session, by the hash of all their
 * tokens, the one that was used longest ago first.
 *
 * <p>Prefixes end at block boundaries. The store counts how many requests have begun with each prefix, and keeps of a
 * prompt the longest with enough of them. Counts part where prompts part.
 */
public final class GlobalPrefixStore {
    /** Prefixes that are counted at a time; beyond that the counts begun first are forgotten. */
    private static final int MAX_COUNTED = 1 << 18;

    private final GlobalPrefixLimits limits;
    private final int blockSize;
    private final int minBlocks;
    private final Long2ObjectLinkedOpenHashMap<Prefix> byHash = new Long2ObjectLinkedOpenHashMap<>();
    private final Long2IntLinkedOpenHashMap numUses = new Long2IntLinkedOpenHashMap();
    private long numTokens;

    GlobalPrefixStore(GlobalPrefixLimits limits, int blockSize) {
        this.limits = limits;
        this.blockSize = blockSize;
        minBlocks = (limits.minLength() + blockSize - 1) / blockSize;
    }

    /** A stored prefix ({@code GlobalPrefixCacheInfo}). */
    static final class Prefix {
        private final long hash;
        private final int length;
        private final BlockHolding blocks;
        private int referenceCount;
        private long lastAccessNanos;

        Prefix(long hash, int length, BlockHolding blocks, long nanos) {
            this.hash = hash;
            this.length = length;
            this.blocks = blocks;
            lastAccessNanos = nanos;
        }

        /** Returns the length in tokens, a multiple of the block size. */
        int length() {
            return length;
        }

        BlockHolding blocks() {
            return blocks;
        }

        /** Returns how many requests go on from the prefix now. */
        int referenceCount() {
            return referenceCount;
        }

        long lastAccessNanos() {
            return lastAccessNanos;
        }
    }

    /** Returns the longest stored prefix of a prompt with these block hashes, or null. */
    @Nullable Prefix find(long[] blockHashes) {
        for (int count = blockHashes.length; count >= minBlocks && !byHash.isEmpty(); count--) {
            var prefix = byHash.get(blockHashes[count - 1]);
            if (prefix != null) {
                return prefix;
            }
        }
        return null;
    }

    /** Counts a reference of a request that continues a prefix. */
    void acquire(Prefix prefix, long atNanos) {
        prefix.referenceCount++;
        prefix.lastAccessNanos = atNanos;
        byHash.getAndMoveToLast(prefix.hash);
    }

    /** Drops the reference of a request that continued a prefix, and has ended or was preempted. */
    void release(Prefix prefix) {
        prefix.referenceCount--;
    }

    /**
     * Counts the prefixes of a prompt that are longer than what it hit, and returns the blocks of the longest one that
     * is to be stored, or 0.
     */
    int count(long[] blockHashes, int numHitBlocks) {
        int longest = 0;
        for (int count = Math.max(minBlocks, numHitBlocks + minBlocks); count <= blockHashes.length; count++) {
            if (numUses.addTo(blockHashes[count - 1], 1) + 1 >= limits.minUses()) {
                longest = count;
            }
        }
        while (numUses.size() > MAX_COUNTED) {
            numUses.removeFirstInt();
        }
        return (long) longest * blockSize <= limits.maxTokens() ? longest : 0;
    }

    /** Makes room for a prefix of {@code length} tokens, and returns whether it is to be stored now. */
    boolean makeRoom(long hash, int length) {
        if (byHash.containsKey(hash)) {
            return false;
        }
        while (numTokens + length > limits.maxTokens()) {
            var oldest = oldestEvictable();
            if (oldest == null) {
                return false;
            }
            drop(oldest);
        }
        return true;
    }

    void put(Prefix prefix) {
        byHash.putAndMoveToLast(prefix.hash, prefix);
        numTokens += prefix.length;
    }

    /** Returns the prefix that was used longest ago among those that no request continues, or null. */
    @Nullable Prefix oldestEvictable() {
        for (var prefix : byHash.values()) {
            if (prefix.referenceCount == 0 && prefix.blocks.isEvictable()) {
                return prefix;
            }
        }
        return null;
    }

    /** Returns the least recently used prefix whose blocks can be dropped, even if requests go on from it, or null. */
    @Nullable Prefix oldestInUse() {
        for (var prefix : byHash.values()) {
            if (prefix.blocks.isEvictable()) {
                return prefix;
            }
        }
        return null;
    }

    void drop(Prefix prefix) {
        byHash.remove(prefix.hash);
        numTokens -= prefix.length;
        prefix.blocks.release();
    }

    /** Drops everything, the counts too; no request may continue any prefix. */
    void clear() {
        byHash.values().forEach(prefix -> prefix.blocks.release());
        byHash.clear();
        numUses.clear();
        numTokens = 0;
    }

    long numTokens() {
        return numTokens;
    }

    List<BlockHolding> holdings() {
        var holdings = new ArrayList<BlockHolding>(byHash.size());
        byHash.values().forEach(prefix -> holdings.add(prefix.blocks));
        return holdings;
    }
}
