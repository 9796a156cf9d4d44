package understudy.kvcache.eviction;

/**
 * Use of each block: when and how often it was used, and how deep it stood in its prompt; some eviction policies need
 * this.
 */
public final class BlockUse {
    private final long[] lastSteps;
    private final int[] depths;
    private final int[] numUses;

    public BlockUse(int numBlocks) {
        lastSteps = new long[numBlocks];
        depths = new int[numBlocks];
        numUses = new int[numBlocks];
    }

    int numBlocks() {
        return lastSteps.length;
    }

    /** Records the use of a block in a step, as the one with {@code depth - 1} others before it. */
    public void note(int block, long step, int depth) {
        lastSteps[block] = Math.max(lastSteps[block], step);
        depths[block] = depth;
        numUses[block]++;
    }

    /** Forgets a block's past; it gets new content. */
    public void clear(int block) {
        lastSteps[block] = 0;
        depths[block] = 0;
        numUses[block] = 0;
    }

    /** Returns the number of the last step in which a request that holds the block was scheduled. */
    long lastStep(int block) {
        return lastSteps[block];
    }

    /** Returns how many requests have used the block, and let go of it, since it got its content. */
    int numUses(int block) {
        return numUses[block];
    }

    /** Returns how many blocks of tokens the block's hash covers, itself included. */
    int depth(int block) {
        return depths[block];
    }
}
