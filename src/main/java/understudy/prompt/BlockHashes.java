package understudy.prompt;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Hashes of the full blocks of a prompt, and the chain that goes on behind them. Immutable. */
final class BlockHashes {
    private final BlockHasher hasher;
    private final String loraName;
    private final String cacheSalt;
    private final long[] hashes;
    private final HashChain end;

    private BlockHashes(BlockHasher hasher, Prompt prompt, long[] hashes, HashChain end) {
        this.hasher = hasher;
        loraName = prompt.loraName();
        cacheSalt = prompt.cacheSalt();
        this.hashes = hashes;
        this.end = end;
    }

    /**
     * Hashes what is not hashed yet.
     *
     * @param prompt tells apart what has the same tokens
     * @param tokens to be hashed
     * @param prefix the hashes of tokens with which {@code tokens} begin, for such a prompt, or null
     */
    static BlockHashes of(BlockHasher hasher, Prompt prompt, TokenSequence tokens, @Nullable BlockHashes prefix) {
        int blockSize = hasher.blockSize();
        int numBlocks = tokens.length() / blockSize;
        int numKnown = prefix == null ? 0 : prefix.hashes.length;
        long[] hashes = prefix == null ? new long[numBlocks] : Arrays.copyOf(prefix.hashes, numBlocks);
        var chain = prefix == null ? hasher.start(prompt) : prefix.end.fork();
        var block = new int[blockSize];
        for (int i = numKnown; i < numBlocks; i++) {
            tokens.copy(i * blockSize, blockSize, block, 0);
            hashes[i] = chain.next(block);
        }
        return new BlockHashes(hasher, prompt, hashes, chain);
    }

    /** Returns whether these are a prompt's hashes, as far as that is not a matter of its tokens. */
    boolean areFor(Prompt prompt, BlockHasher wanted) {
        return hasher.equals(wanted) && loraName.equals(prompt.loraName()) && cacheSalt.equals(prompt.cacheSalt());
    }

    /** Returns the hashes, which are shared and must not be changed. */
    long[] hashes() {
        return hashes;
    }

    /** Returns a chain of its own that stands behind the last full block. */
    HashChain chainEnd() {
        return end.fork();
    }
}
