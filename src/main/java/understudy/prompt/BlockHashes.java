package understudy.prompt;

import java.util.Arrays;

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

    /** Hashes tokens for a prompt, whose LoRA adapter, salt and the like tell equal tokens apart. */
    static BlockHashes of(BlockHasher hasher, Prompt prompt, TokenSequence tokens) {
        return of(hasher, prompt, tokens, new long[tokens.length() / hasher.blockSize()], 0, hasher.start(prompt));
    }

    /**
     * Hashes the blocks of tokens that are not hashed yet, for such a prompt.
     *
     * @param numShared how many tokens they have in common with those of these hashes, from the first on
     */
    BlockHashes goingOn(Prompt prompt, TokenSequence tokens, int numShared) {
        int numKnown = Math.min(hashes.length, numShared / hasher.blockSize());
        var chain = numKnown == hashes.length ? end.fork() : hasher.resume(hashes, numKnown);
        return chain == null
                ? of(hasher, prompt, tokens)
                : of(
                        hasher,
                        prompt,
                        tokens,
                        Arrays.copyOf(hashes, tokens.length() / hasher.blockSize()),
                        numKnown,
                        chain);
    }

    private static BlockHashes of(
            BlockHasher hasher, Prompt prompt, TokenSequence tokens, long[] hashes, int numKnown, HashChain chain) {
        int blockSize = hasher.blockSize();
        var room = new BlockRoom();
        for (int i = numKnown; i < hashes.length; i++) {
            hashes[i] = chain.next(tokens, i * blockSize, room);
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
