package understudy.prompt;

/**
 * Room for the tokens of blocks and what is hashed of them. Each of thousands of requests has a chain and hashes a
 * block now and then: with room of its own for each, that room would have left the processor's caches each time. So who
 * hashes for many has it once. Not thread safe.
 */
public final class BlockRoom {
    private int[] tokens = {};
    private int[] manyTokens = {};
    private byte[] bytes = {};

    /** Copies a block of tokens, from position {@code from} on, and returns them until the next call. */
    int[] copy(TokenSource source, int from, int blockSize) {
        if (tokens.length != blockSize) {
            tokens = new int[blockSize];
        }
        source.copy(from, blockSize, tokens, 0);
        return tokens;
    }

    /**
     * Copies {@code count} tokens, from position {@code from} on, and returns them until the next call, perhaps with others
     * behind them.
     */
    int[] copyMany(TokenSource source, int from, int count) {
        if (manyTokens.length < count) {
            manyTokens = new int[count];
        }
        source.copy(from, count, manyTokens, 0);
        return manyTokens;
    }

    /** Returns so many bytes, with anything in them, until the next call. */
    byte[] bytes(int count) {
        if (bytes.length != count) {
            bytes = new byte[count];
        }
        return bytes;
    }
}
