package understudy.prompt;

/**
 * The running state of one prompt's block hashes. A block's hash covers its tokens and its parent's hash, so that a
 * match at block k implies a match at all blocks before it.
 */
public interface HashChain {

    /**
     * Hashes the next block.
     *
     * @param tokens exactly one block of token ids; not kept
     * @return the 64 bits that identify the block: the hash itself, or the low 64 bits of a longer digest
     */
    long next(int[] tokens);

    /** Returns a chain that goes on from here by itself. */
    HashChain fork();
}
