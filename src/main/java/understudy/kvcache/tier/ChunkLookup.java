package understudy.kvcache.tier;

import it.unimi.dsi.fastutil.longs.LongList;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import understudy.kvcache.connector.ExternalMatch;
import understudy.kvcache.connector.KvSource;

/** Look-up of a request's chunks in host memory, behind the tokens that the GPU has. */
final class ChunkLookup {
    private final TierCache tier;
    private final int chunkTokens;
    private final boolean sharesLoads;
    private final LongOpenHashSet keysBeingLoaded = new LongOpenHashSet();

    /** @param sharesLoads whether a request waits for a chunk that another one is loading, to find it on the GPU */
    ChunkLookup(TierCache tier, int chunkTokens, boolean sharesLoads) {
        this.tier = tier;
        this.chunkTokens = chunkTokens;
        this.sharesLoads = sharesLoads;
    }

    /**
     * Finds the chunks that are there without a gap.
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

    void beginLoad(LongList keys) {
        if (sharesLoads) {
            keysBeingLoaded.addAll(keys);
        }
    }

    void endLoad(long key) {
        keysBeingLoaded.remove(key);
    }
}
