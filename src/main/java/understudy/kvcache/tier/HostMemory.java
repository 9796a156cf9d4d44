package understudy.kvcache.tier;

import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;
import understudy.kvcache.connector.ExternalMatch;
import understudy.kvcache.connector.KvSource;
import understudy.kvcache.connector.TierChange;
import understudy.kvcache.connector.TierState;

/** Host memory of a replica: its chunks, the requests that load them, and the changes of its content. */
final class HostMemory {
    private final TierCache tier;
    private final int numBlocks;
    private final int chunkTokens;
    private final boolean sharesLoads;
    private final LongOpenHashSet keysBeingLoaded = new LongOpenHashSet();
    private final List<TierChange> changes = new ArrayList<>();

    /** @param sharesLoads whether a request waits for a chunk that another one is loading, to find it on the GPU */
    HostMemory(TierSpec spec, int chunkTokens, boolean sharesLoads) {
        tier = new TierCache(spec);
        numBlocks = spec.numBlocks();
        this.chunkTokens = chunkTokens;
        this.sharesLoads = sharesLoads;
    }

    TierState state() {
        return new TierState(KvSource.HOST, numBlocks, tier.stats());
    }

    /**
     * Finds the chunks that are there without a gap, behind the tokens that the GPU has.
     *
     * @param keys of all chunks whose tokens are known
     */
    ExternalMatch find(LongList keys, int numTokens, int numLocalTokens) {
        int numKnown = Math.min(numTokens, keys.size() * chunkTokens);
        if (numKnown - numLocalTokens < chunkTokens) {
            return ExternalMatch.NONE;
        }
        int first = numLocalTokens / chunkTokens;
        int numHits = 0;
        boolean isPending = false;
        for (int i = first; i < keys.size(); i++) {
            var found = tier.lookup(keys.getLong(i));
            if (found == TierLookup.MISS) {
                break;
            }
            isPending |= found == TierLookup.PENDING;
            numHits++;
        }
        int numFound = isPending ? numKnown : Math.min(numKnown, chunkTokens * (first + numHits));
        if (numHits == 0 || numFound - numLocalTokens < chunkTokens) {
            return ExternalMatch.NONE;
        }
        int end = (numFound + chunkTokens - 1) / chunkTokens;
        return isPending || isAnyBeingLoaded(keys.subList(first, Math.min(end, keys.size())))
                ? ExternalMatch.LATER
                : new ExternalMatch(numFound - numLocalTokens, true, KvSource.HOST);
    }

    private boolean isAnyBeingLoaded(LongList keys) {
        return !keysBeingLoaded.isEmpty() && keys.longStream().anyMatch(keysBeingLoaded::contains);
    }

    TierCache tier() {
        return tier;
    }

    /** Begins to load chunks, and returns the block of each. */
    IntList beginLoad(LongList keys) {
        if (sharesLoads) {
            keysBeingLoaded.addAll(keys);
        }
        return tier.prepareLoad(keys);
    }

    void endLoad(LongList keys) {
        keys.forEach(key -> {
            tier.completeLoad(key);
            keysBeingLoaded.remove(key);
        });
    }

    PrepareStoreOutput beginStore(LongList keys) {
        var output = tier.prepareStore(keys);
        if (output instanceof PrepareStoreOutput.Prepared prepared
                && !prepared.evictedKeys().isEmpty()) {
            changes.add(new TierChange(false, prepared.evictedKeys()));
        }
        return output;
    }

    void endStore(LongList keys, boolean isFailed) {
        if (isFailed) {
            keys.forEach(tier::failStore);
            return;
        }
        keys.forEach(tier::completeStore);
        if (!keys.isEmpty()) {
            changes.add(new TierChange(true, keys));
        }
    }

    /** Loses, of the chunks that no transfer uses, those with such a key. */
    void lose(LongPredicate isLost) {
        var lost = tier.lose(isLost);
        if (!lost.isEmpty()) {
            changes.add(new TierChange(false, lost));
        }
    }

    /** Lends the leading chunks that are there to another replica. */
    LongList lend(LongList keys) {
        int numFound = 0;
        while (numFound < keys.size() && tier.lookup(keys.getLong(numFound)) == TierLookup.HIT) {
            numFound++;
        }
        var found = new LongArrayList(keys.subList(0, numFound));
        tier.touch(found);
        tier.prepareLoad(found);
        return found;
    }

    List<TierChange> drainChanges() {
        var drained = List.copyOf(changes);
        changes.clear();
        return drained;
    }

    void audit() {
        var audit = tier.audit();
        if (!audit.isConserved()) {
            throw new IllegalStateException("block conservation: the host memory has " + audit);
        }
    }
}
