package understudy.kvcache.hybrid;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import java.util.List;
import understudy.kvcache.KvEvent;
import understudy.kvcache.KvGroup;
import understudy.kvcache.KvGroups;
import understudy.kvcache.content.BlockPool;
import understudy.kvcache.eviction.PrefixTable;

/** Part of one group in a memory (vLLM {@code SingleTypeKVCacheManager}). */
abstract class GroupManager {
    final KvGroup group;
    final int blockSize;
    final BlockPool pool;
    final GroupKeys keys;
    final int retentionInterval;

    /** Tokens of which every cached prefix is a multiple. */
    final int alignment;

    /** Blocks that the last one of a hit takes with it: one with a draft model that needs its hidden states. */
    final int numDropped;

    private final int index;
    private final int maxModelLen;
    private final int maxTokensInFlight;

    GroupManager(int index, HybridConfig config, KvGroups groups, BlockPool pool, GroupKeys keys) {
        this.index = index;
        this.pool = pool;
        this.keys = keys;
        group = groups.groups().get(index);
        blockSize = group.blockSize();
        retentionInterval = groups.retentionInterval();
        alignment = groups.blockSize();
        numDropped = config.dropsLastHit() ? 1 : 0;
        maxModelLen = config.maxModelLen();
        maxTokensInFlight = groups.maxTokensInFlight();
    }

    static GroupManager create(int index, HybridConfig config, KvGroups groups, BlockPool pool, GroupKeys keys) {
        return switch (groups.groups().get(index).kind()) {
            case FULL_ATTENTION -> new FullAttentionGroup(index, config, groups, pool, keys);
            case SLIDING_WINDOW -> new SlidingWindowGroup(index, config, groups, pool, keys);
            case CHUNKED_LOCAL_ATTENTION -> new ChunkedLocalGroup(index, config, groups, pool, keys);
            case MAMBA -> new StateGroup(index, config, groups, pool, keys);
        };
    }

    /**
     * Finds what is cached of a sequence for all groups of one kind.
     *
     * @param equals the groups, this one included
     * @param limit tokens that may be found
     * @param drops whether the last block of the hit is left out
     * @param hits takes the blocks of each group
     * @return the tokens that were found
     */
    abstract int find(HybridSequence sequence, int[] equals, int limit, boolean drops, List<IntArrayList> hits);

    /** Returns whether a block of a sequence is worth keeping. */
    boolean keeps(HybridSequence sequence, int blockIndex) {
        return true;
    }

    /** Looks for one block in several groups; returns whether all of them have it. */
    final boolean lookUp(HybridSequence sequence, int[] equals, int blockIndex, int[] found) {
        long hash = sequence.hashUpTo((blockIndex + 1) * blockSize);
        for (int i = 0; i < equals.length; i++) {
            found[i] = pool.prefixTable().lookup(GroupKeys.key(equals[i], hash));
            if (found[i] == PrefixTable.NULL_BLOCK) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns how many blocks a request needs that are free, those that it hits included.
     *
     * @param numTokens tokens for which it needs slots
     * @param numComputed those before the ones to compute now
     * @param isWhole whether this is about all that is known of it: blocks out of reach are given back on the way
     */
    int numNeeded(HybridSequence sequence, IntList hits, int numTokens, int numComputed, boolean isWhole) {
        var table = sequence.table(index);
        int numBlocks =
                isWhole ? group.maxBlocks(numTokens, maxTokensInFlight, maxModelLen) : group.numBlocks(numTokens);
        if (table.isKnown()) {
            return Math.max(0, numBlocks - table.size());
        }
        int numSkipped = group.numSkippedTokens(numComputed) / blockSize;
        int numHeld = table.size();
        return Math.max(0, numBlocks - Math.max(numSkipped, hits.size() + numHeld))
                + countFree(hits, Math.max(0, numSkipped - numHeld));
    }

    final int countFree(IntList hits, int from) {
        int count = 0;
        for (int i = from; i < hits.size(); i++) {
            int block = hits.getInt(i);
            count += block != PrefixTable.NULL_BLOCK && pool.refCount(block) == 0 ? 1 : 0;
        }
        return count;
    }

    /**
     * Puts hits at the beginning of a request's table.
     *
     * @return whether any of them belonged to the request's conversation alone
     */
    final boolean attach(HybridSequence sequence, IntList hits, int numComputed) {
        var table = sequence.table(index);
        int numSkipped = group.numSkippedTokens(numComputed) / blockSize;
        table.appendNulls(numSkipped);
        boolean findsOwn = false;
        for (int i = numSkipped; i < hits.size(); i++) {
            int block = hits.getInt(i);
            if (block != PrefixTable.NULL_BLOCK) {
                findsOwn |= sequence.turn().isConversationalTurn()
                        && pool.prefixTable().belongsTo(block, sequence.turn().sessionId());
                pool.touch(block, sequence.turn().sessionId());
            }
            table.append(block);
        }
        table.setNumCached(table.size());
        return findsOwn;
    }

    /** Allocates blocks for so many tokens. */
    void grow(HybridSequence sequence, int numTokens) {
        var table = sequence.table(index);
        for (int i = table.size(); i < group.numBlocks(numTokens); i++) {
            table.append(pool.take());
        }
    }

    /** Gives back the blocks that no token behind the first {@code numComputed} reads. */
    void dropSkipped(HybridSequence sequence, int numComputed) {
        var table = sequence.table(index);
        table.drop(Math.min(group.numSkippedTokens(numComputed) / blockSize, table.size()), pool);
    }

    final GroupTable table(HybridSequence sequence) {
        return sequence.table(index);
    }

    /** Makes blocks findable that are full and worth keeping, and returns how many. */
    int cache(HybridSequence sequence, int numTokens) {
        var table = sequence.table(index);
        int first = table.numCached();
        int numFull = numTokens / blockSize;
        if (numFull <= first) {
            return 0;
        }
        var hashes = new LongArrayList(numFull - first);
        for (int i = first; i < numFull; i++) {
            if (!table.isNull(i) && keeps(sequence, i)) {
                hashes.add(cacheBlock(sequence, table.block(i), i));
            }
        }
        table.setNumCached(numFull);
        if (keys.isEnabled()) {
            var range = new KvEvent.GroupRange(index, group, (numFull - first) * blockSize);
            keys.stored(sequence.stored(new LongImmutableList(hashes), first * blockSize, range));
        }
        return hashes.size();
    }

    private long cacheBlock(HybridSequence sequence, int block, int blockIndex) {
        long hash = sequence.hashUpTo((blockIndex + 1) * blockSize);
        pool.forget(block); // the end of a prompt within it
        keys.insert(pool.prefixTable(), block, index, hash, sequence.turn().sessionId());
        return hash;
    }

    final int index() {
        return index;
    }

    /** Counts the blocks of a request that carry a hash which is not theirs. */
    final int countBadHashes(HybridSequence sequence) {
        var table = sequence.table(index);
        int numBad = 0;
        for (int i = 0; i < table.size(); i++) {
            boolean isHashed = !table.isNull(i) && pool.prefixTable().isHashed(table.block(i));
            if (isHashed && i < table.numCached()) {
                long key = GroupKeys.key(index, sequence.hashUpTo((i + 1) * blockSize));
                numBad += keys.isTrue(pool.prefixTable(), table.block(i), key) ? 0 : 1;
            }
        }
        return numBad;
    }
}
