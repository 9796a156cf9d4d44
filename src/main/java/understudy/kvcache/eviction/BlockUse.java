package understudy.kvcache.eviction;

import java.util.Arrays;

/**
 * Use of each block: when and how often it was used, and how deep it stood in its prompt; some eviction policies need
 * this.
 */
public final class BlockUse {
    private final int numBlocks;
    private long[] lastSteps = {};
    private int[] depths = {};
    private int[] numUses = {};

    /** Creates the account of blocks none of which has been used; memory comes with use. */
    public BlockUse(int numBlocks) {
        this.numBlocks = numBlocks;
    }

    int numBlocks() {
        return numBlocks;
    }

    /** Records the use of a block in a step, as the one with {@code depth - 1} others before it. */
    public void note(int block, long step, int depth) {
        if (!isKnown(block)) {
            int capacity = PrefixTable.grown(block, numBlocks);
            lastSteps = Arrays.copyOf(lastSteps, capacity);
            depths = Arrays.copyOf(depths, capacity);
            numUses = Arrays.copyOf(numUses, capacity);
        }
        lastSteps[block] = Math.max(lastSteps[block], step);
        depths[block] = depth;
        numUses[block]++;
    }

    private boolean isKnown(int block) {
        return block < numUses.length;
    }

    /** Forgets a block's past; it gets new content. */
    public void clear(int block) {
        if (isKnown(block)) {
            lastSteps[block] = 0;
            depths[block] = 0;
            numUses[block] = 0;
        }
    }

    /** Returns the number of the last step in which a request that holds the block was scheduled. */
    long lastStep(int block) {
        return isKnown(block) ? lastSteps[block] : 0;
    }

    /** Returns how many requests have used the block, and let go of it, since it got its content. */
    int numUses(int block) {
        return isKnown(block) ? numUses[block] : 0;
    }

    /** Returns how many blocks of tokens the block's hash covers, itself included. */
    int depth(int block) {
        return isKnown(block) ? depths[block] : 0;
    }
}
