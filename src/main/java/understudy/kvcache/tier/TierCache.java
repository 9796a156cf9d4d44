package understudy.kvcache.tier;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.ints.IntOpenHashSet;
import it.unimi.dsi.fastutil.ints.IntSet;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.function.LongPredicate;
import understudy.kvcache.connector.TierStats;

/**
 * The content of a slower memory tier, as the CPU manager of vLLM's {@code OffloadingConnector} decides it.
 *
 * <p>A chunk is one block of KV or several; its key is the hash of the last of them. A chunk that a transfer uses is
 * not evicted: from {@link #prepareStore} to {@link #completeStore} it is being written and cannot be loaded, from {@link
 * #prepareLoad} to {@link #completeLoad} it is being loaded, by several at once perhaps. A caller ends a transfer by
 * completing its keys in the order of the prompt.
 */
public final class TierCache {
    private final TierBlocks blocks;
    private final TierOrder order;
    private final LookupCounts lookupCounts;
    private long numLookups;
    private long numHits;
    private long numStores;
    private long numSkippedStores;
    private long numRefusedStores;
    private long numEvictions;

    public TierCache(TierSpec spec) {
        blocks = new TierBlocks(spec.numBlocks());
        order = spec.policy().create(blocks);
        lookupCounts = new LookupCounts(spec);
    }

    /** Returns whether the tier has a chunk; counts towards the threshold for storing it. */
    public TierLookup lookup(long key) {
        numLookups++;
        lookupCounts.add(key);
        int block = blocks.find(key);
        if (block == TierBlocks.NONE) {
            return TierLookup.MISS;
        }
        if (blocks.isPending(block)) {
            return TierLookup.PENDING;
        }
        numHits++;
        return TierLookup.HIT;
    }

    /** Notes that a request has asked for these chunks, here or not; the first one counts as the last asked for. */
    public void touch(LongList keys) {
        for (int i = keys.size() - 1; i >= 0; i--) {
            long key = keys.getLong(i);
            int block = blocks.find(key);
            if (block == TierBlocks.NONE) {
                order.touchAbsent(key);
            } else {
                order.touch(block);
            }
        }
    }

    /**
     * Begins to store those of these chunks that are new and were looked up often enough. Evicts as many others as that
     * takes, but none of {@code keys}; where there are too few of them it changes nothing.
     *
     * @param keys different keys, in the order of the prompt
     */
    public PrepareStoreOutput prepareStore(LongList keys) {
        var wanted = new LongArrayList(keys.size());
        var present = new IntOpenHashSet(0);
        for (int i = 0; i < keys.size(); i++) {
            long key = keys.getLong(i);
            int block = blocks.find(key);
            if (!lookupCounts.suffice(key)) {
                numSkippedStores++;
            } else if (block == TierBlocks.NONE) {
                wanted.add(key);
            } else {
                present.add(block);
            }
        }
        return store(wanted, present);
    }

    private PrepareStoreOutput store(LongList wanted, IntSet present) {
        int numMissing = Math.max(0, wanted.size() - blocks.numAvailable());
        var victims =
                numMissing == 0 || numMissing > blocks.numIdle() ? IntList.of() : order.victims(numMissing, present);
        if (victims.size() < numMissing) {
            numRefusedStores++;
            return new PrepareStoreOutput.Refused(wanted.size());
        }
        var evictedKeys = evict(victims);
        return new PrepareStoreOutput.Prepared(wanted, insert(wanted), evictedKeys, victims);
    }

    private LongList evict(IntList victims) {
        var keys = new LongArrayList(victims.size());
        for (int i = 0; i < victims.size(); i++) {
            int block = victims.getInt(i);
            long key = blocks.keyOf(block);
            order.evict(block, key);
            blocks.remove(block);
            keys.add(key);
        }
        numEvictions += keys.size();
        return keys;
    }

    private IntList insert(LongList keys) {
        var inserted = new IntArrayList(keys.size());
        for (int i = 0; i < keys.size(); i++) {
            int block = blocks.add(keys.getLong(i));
            order.insert(block, keys.getLong(i));
            inserted.add(block);
        }
        numStores += keys.size();
        return inserted;
    }

    /** Ends the writing of a chunk; it can be loaded from now on. */
    public void completeStore(long key) {
        int block = pending(key);
        blocks.complete(block);
        order.rest(block);
    }

    /** Ends the writing of a chunk that has failed; nothing of it is left. */
    public void failStore(long key) {
        remove(pending(key));
    }

    /** Begins to load chunks, all of which must be here and complete, and returns the tier block of each. */
    public IntList prepareLoad(LongList keys) {
        var loaded = new IntArrayList(keys.size());
        for (int i = 0; i < keys.size(); i++) {
            int block = blocks.find(keys.getLong(i));
            check(block != TierBlocks.NONE && !blocks.isPending(block), "cannot be loaded", keys.getLong(i));
            if (blocks.addLoad(block)) {
                order.use(block);
            }
            loaded.add(block);
        }
        return loaded;
    }

    /** Ends one load of a chunk, whether it has succeeded or failed. */
    public void completeLoad(long key) {
        int block = blocks.find(key);
        check(block != TierBlocks.NONE && blocks.isInRead(block), "is not being loaded", key);
        if (blocks.removeLoad(block)) {
            order.rest(block);
        }
    }

    /** Loses, of the chunks that no transfer uses, those with such a key, and returns their keys by tier block. */
    public LongList lose(LongPredicate isLost) {
        var lost = new LongArrayList();
        for (int block = 0; block < blocks.numEverUsed(); block++) {
            if (blocks.isIdle(block) && isLost.test(blocks.keyOf(block))) {
                lost.add(blocks.keyOf(block));
                remove(block);
            }
        }
        return lost;
    }

    /** Makes the tier as empty as a new one, and its policy as ignorant; no transfer may be running. */
    public void clear() {
        if (blocks.numPending() + blocks.numInRead() > 0) {
            throw new IllegalStateException("transfers are running: " + stats());
        }
        blocks.clear();
        order.clear();
        lookupCounts.clear();
    }

    public TierStats stats() {
        return new TierStats(
                numLookups,
                numHits,
                numStores,
                numSkippedStores,
                numRefusedStores,
                numEvictions,
                blocks.numUsed(),
                blocks.numPending(),
                blocks.numInRead());
    }

    public TierOrderState orderState() {
        return order.state();
    }

    public TierAudit audit() {
        return TierAudit.of(blocks, order);
    }

    private int pending(long key) {
        int block = blocks.find(key);
        check(block != TierBlocks.NONE && blocks.isPending(block), "is not being written", key);
        return block;
    }

    private void remove(int block) {
        order.remove(block);
        blocks.remove(block);
    }

    private static void check(boolean isTrue, String otherwise, long key) {
        if (!isTrue) {
            throw new IllegalStateException("chunk " + Long.toHexString(key) + " " + otherwise);
        }
    }
}
