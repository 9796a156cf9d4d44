package understudy.kvcache.session;

import it.unimi.dsi.fastutil.ints.IntList;

/** The blocks that a request holds, or a cached prefix. */
interface BlockHolding {

    /**
     * Returns the holding of a request that goes on from a part of this cached prefix.
     *
     * @param firstBlock blocks at the beginning that it leaves out
     * @param numTokens tokens that it takes from there on
     */
    BlockHolding share(int firstBlock, int numTokens);

    /** Returns how many more blocks a request takes to hold {@code numTokens} tokens. */
    int numMissing(int numTokens);

    /** Takes free blocks, so that a request holds {@code numTokens} tokens; there must be enough. */
    void grow(int numTokens);

    /**
     * Returns the session's holding of a request that has ended with {@code numTokens} tokens, and is released next.
     */
    BlockHolding keepForSession(int numTokens);

    /** Returns the first blocks of a request, kept for other requests. */
    BlockHolding keepAsPrefix(int numBlocks);

    /** Drops everything. */
    void release();

    /** Returns whether a cached prefix can be dropped now. */
    boolean isEvictable();

    /** Returns the block ids, none if blocks are only counted. */
    IntList blockIds();
}
