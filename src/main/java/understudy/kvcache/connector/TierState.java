package understudy.kvcache.connector;

/**
 * State of a slower memory: which one it is, how large, and what has happened in it.
 *
 * @param numBlocks tier blocks, each with room for one chunk
 */
public record TierState(KvSource tier, int numBlocks, TierStats stats) {

    /** Returns both as if they were one memory. */
    public TierState plus(TierState other) {
        return new TierState(tier, numBlocks + other.numBlocks, stats.plus(other.stats));
    }

    /** Returns what has happened in a memory that is gone. */
    public TierState gone() {
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
