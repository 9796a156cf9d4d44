package understudy.kvcache;

/**
 * Block counts of a memory by use; blocks that are neither used nor cached are empty.
 *
 * @param numBlocks usable blocks, without the null block and those out of use
 * @param numUsed blocks that requests hold
 * @param numCached other blocks that hold content that can be found, until they are given out again
 */
public record KvBlockCounts(int numBlocks, int numUsed, int numCached) {
    /** A memory that is not there. */
    public static final KvBlockCounts NONE = new KvBlockCounts(0, 0, 0);
}
