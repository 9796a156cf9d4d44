package understudy.replay.cache;

/**
 * Sizes of S3-FIFO's queues.
 *
 * @param small blocks in the small queue, at least 1
 * @param main blocks in the main queue, at least 1; as many ghosts are remembered
 */
public record S3FifoSizes(int small, int main) {

    /**
     * Rounds the small queue's share, halves to the even number.
     *
     * @throws IllegalArgumentException if there is no room for one of the queues, as the policy has no rule for that
     */
    public static S3FifoSizes of(int capacityBlocks, double smallRatio) {
        int small = (int) Math.rint(capacityBlocks * smallRatio);
        if (small < 1 || small >= capacityBlocks) {
            throw new IllegalArgumentException(
                    ("s3fifo is not defined for a capacity of %d: a small ratio of %s leaves %d"
                                    + " for the small queue and %d for the main queue, both need at least 1 block")
                            .formatted(capacityBlocks, smallRatio, small, capacityBlocks - small));
        }
        return new S3FifoSizes(small, capacityBlocks - small);
    }
}
