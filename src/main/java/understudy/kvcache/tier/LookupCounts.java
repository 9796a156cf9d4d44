package understudy.kvcache.tier;

import it.unimi.dsi.fastutil.longs.Long2IntLinkedOpenHashMap;

/** How often chunks were looked up lately (vLLM {@code FilterReusedOffloadingManager}). */
final class LookupCounts {
    private final TierSpec spec;
    private final Long2IntLinkedOpenHashMap counts = new Long2IntLinkedOpenHashMap();

    LookupCounts(TierSpec spec) {
        this.spec = spec;
    }

    void add(long key) {
        if (spec.countsLookups()) {
            counts.putAndMoveToLast(key, counts.get(key) + 1);
            if (counts.size() > spec.maxTrackerSize()) {
                counts.removeFirstInt();
            }
        }
    }

    /** Returns whether a chunk was looked up often enough to be stored. */
    boolean suffice(long key) {
        return !spec.countsLookups() || counts.get(key) >= spec.storeThreshold();
    }

    void clear() {
        counts.clear();
    }
}
