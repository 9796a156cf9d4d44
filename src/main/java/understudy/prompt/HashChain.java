package understudy.prompt;

/**
 * The running state of one prompt's block hashes. A block's hash covers its tokens and its parent's hash, so that a
 * match at block k implies a match at all blocks before it.
 */
public interface HashChain {

    /**
     * Hashes the next block.
     *
     * @param tokens have its token ids from position {@code from} on
     * @param room for the work
     * @return the 64 bits that identify the block: the hash itself, or the low 64 bits of a longer digest
     */
    long next(TokenSource tokens, int from, BlockRoom room);

    /**
     * Hashes the next blocks.
     *
     * @param tokens have their token ids from position {@code from} on
     * @param into takes the hashes, of as many blocks as it is long
     */
    default void nextAll(TokenSource tokens, int from, int blockSize, long[] into, BlockRoom room) {
        for (int i = 0; i < into.length; i++) {
            into[i] = next(tokens, from + i * blockSize, room);
        }
    }

    /** Hashes the next block, whose token ids are exactly these; they are not kept. */
    default long next(int[] tokens) {
        return next(new TokenIds(tokens), 0, new BlockRoom());
    }

    /** Returns a chain that goes on from here by itself. */
    HashChain fork();
}
