package understudy.replay.cache;

/**
 * Cache of blocks under an eviction policy, without content, references or time: it tells which accesses hit. A policy
 * is a final class that keeps its state in arrays by dense block id.
 */
public abstract class BlockCache {
    private long blockHits;

    /**
     * Accesses a block: a hit changes what the policy knows about it, and nothing else; a miss admits it, and evicts as
     * the policy says. That a hit changes the residency of no block is what {@link #accessInOrder} rests on.
     *
     * @return whether the block was resident
     */
    abstract boolean access(int block);

    /** Returns the number of resident blocks. */
    public abstract int size();

    /** Reserves room for block ids up to {@code numBlocks - 1}, which are going to be accessed. */
    public abstract void reserve(int numBlocks);

    /**
     * Accesses the blocks of one prompt in order. Each class has its own one-line method for this, since the compiler
     * then knows whose {@link #access} the loop in {@link #accessInOrder} calls, however many policies share the
     * process.
     *
     * @param from index in {@code blocks} of the prompt's first block
     * @param to index behind its last block
     * @return the number of blocks from the start of the prompt that were resident when it arrived, without a gap
     */
    public abstract int accessPrompt(int[] blocks, int from, int to);

    /**
     * Accesses a prompt's blocks. Looking the prefix up first would find the same: until the first miss nothing is
     * admitted or evicted, so a block is resident on arrival if and only if it is when its turn comes.
     */
    final int accessInOrder(int[] blocks, int from, int to) {
        int at = from;
        while (at < to && access(blocks[at])) {
            at++;
        }
        int prefixHits = at - from;
        int hits = prefixHits;
        for (at++; at < to; at++) {
            hits += access(blocks[at]) ? 1 : 0;
        }
        blockHits += hits;
        return prefixHits;
    }

    /** Returns how many accesses of prompts were hits. */
    public final long blockHits() {
        return blockHits;
    }
}
