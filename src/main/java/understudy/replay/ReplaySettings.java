package understudy.replay;

/**
 * Settings of the cache that a trace is replayed against.
 *
 * @param policy rule of eviction
 * @param capacityBlocks blocks in the cache, at least 1; {@link #UNBOUNDED} where the policy evicts nothing
 * @param blockSize tokens per block, at least 1
 * @param smallRatio share of the small queue of {@code s3fifo}, between 0 and 1; of no meaning to others
 * @param maxFreq highest frequency that {@code s3fifo} counts, at least 0; of no meaning to others
 */
public record ReplaySettings(ReplayPolicy policy, int capacityBlocks, int blockSize, double smallRatio, int maxFreq) {
    /** The capacity of a cache that evicts nothing. */
    public static final int UNBOUNDED = -1;

    /** The share that S3-FIFO's authors found to do well on all their traces. */
    public static final double DEFAULT_SMALL_RATIO = 0.1;

    /** Two bits per block, as S3-FIFO's authors have it. */
    public static final int DEFAULT_MAX_FREQ = 3;

    /** Checks the ranges, and that the policy is defined for the capacity. */
    public ReplaySettings {
        if (blockSize < 1) {
            throw new IllegalArgumentException("block size is " + blockSize + ", must be at least 1 token");
        }
        if (!(smallRatio > 0 && smallRatio < 1)) {
            throw new IllegalArgumentException("small ratio is " + smallRatio + ", must be between 0 and 1");
        }
        if (maxFreq < 0) {
            throw new IllegalArgumentException("max freq is " + maxFreq + ", must be at least 0");
        }
        policy.checkCapacity(capacityBlocks, smallRatio);
        capacityBlocks = policy.bounded() ? capacityBlocks : UNBOUNDED;
    }

    /** Returns settings with the defaults of S3-FIFO. */
    public static ReplaySettings of(ReplayPolicy policy, int capacityBlocks, int blockSize) {
        return new ReplaySettings(policy, capacityBlocks, blockSize, DEFAULT_SMALL_RATIO, DEFAULT_MAX_FREQ);
    }
}
