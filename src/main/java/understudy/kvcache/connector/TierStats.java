package understudy.kvcache.connector;

/**
 * Counts of a tier: its stores, loads and evictions since it was made, in chunks, and the blocks in use now.
 *
 * @param numLookups chunks looked up
 * @param numHits how many of {@code numLookups} were there and complete
 * @param numStores chunks given a block to be stored in
 * @param numSkippedStores chunks not stored because they were looked up too seldom
 * @param numRefusedStores stores refused, each of one chunk or more
 * @param numEvictions chunks evicted
 * @param numUsed blocks that hold a chunk or are being written
 * @param numPending how many of {@code numUsed} are being written
 * @param numInRead how many of {@code numUsed} are being loaded from
 */
public record TierStats(
        long numLookups,
        long numHits,
        long numStores,
        long numSkippedStores,
        long numRefusedStores,
        long numEvictions,
        int numUsed,
        int numPending,
        int numInRead) {

    /** Returns the sums. */
    public TierStats plus(TierStats other) {
        return new TierStats(
                numLookups + other.numLookups,
                numHits + other.numHits,
                numStores + other.numStores,
                numSkippedStores + other.numSkippedStores,
                numRefusedStores + other.numRefusedStores,
                numEvictions + other.numEvictions,
                numUsed + other.numUsed,
                numPending + other.numPending,
                numInRead + other.numInRead);
    }

    /** Returns the same counts of a tier that holds nothing any more. */
    TierStats gone() {
        return new TierStats(numLookups, numHits, numStores, numSkippedStores, numRefusedStores, numEvictions, 0, 0, 0);
    }
}
