package understudy.kvcache.connector;

/**
 * State of a slower memory: which one it is, its size, and its counts.
 *
 * @param numBlocks tier blocks, each with room for one chunk
 */
public record TierState(KvSource tier, int numBlocks, TierStats stats) {

    /** Returns both as if they were one memory; the store that replicas share is one, of which the later state counts. */
    public TierState plus(TierState other) {
        if (tier == KvSource.STORE) {
            return stats.numLookups() < other.stats.numLookups() ? other : this;
        }
        return new TierState(tier, numBlocks + other.numBlocks, stats.plus(other.stats));
    }

    /** Returns the last state of a memory that is gone with its replica: its counts, and nothing in use. */
    public TierState gone() {
        if (tier == KvSource.STORE) {
            return this;
        }
        return new TierState(tier, 0, stats.gone());
    }

    /** Returns the share of blocks that hold a chunk or are being written, 0 to 1. */
    public double usage() {
        return share(stats.numUsed());
    }

    /** Returns the share that {@code count} blocks are of all, 0 to 1. */
    public double share(int count) {
        return numBlocks == 0 ? 0 : (double) count / numBlocks;
    }
}
