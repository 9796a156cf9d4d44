package understudy.kvcache.tier;

/**
 * Setup of a memory tier.
 *
 * @param numBlocks tier blocks, each with room for one chunk
 * @param policy choice of the chunk that leaves when the tier is full
 * @param storeThreshold lookups of a chunk before it is stored; below 2 every chunk is
 * @param maxTrackerSize chunks whose lookups are counted at most; the one looked up longest ago is forgotten first
 */
public record TierSpec(int numBlocks, TierPolicy policy, int storeThreshold, int maxTrackerSize) {
    private static final int DEFAULT_MAX_TRACKER_SIZE = 64_000;

    public TierSpec {
        if (numBlocks < 1 || maxTrackerSize < 1) {
            throw new IllegalArgumentException(
                    "numBlocks and maxTrackerSize must be at least 1: " + numBlocks + ", " + maxTrackerSize);
        }
        if (storeThreshold < 0) {
            throw new IllegalArgumentException("storeThreshold must not be negative: " + storeThreshold);
        }
    }

    /** Returns a tier of this size with everything else as vLLM has it by default. */
    public static TierSpec of(int numBlocks) {
        return new TierSpec(numBlocks, TierPolicy.LRU, 0, DEFAULT_MAX_TRACKER_SIZE);
    }

    boolean countsLookups() {
        return storeThreshold >= 2;
    }
}
