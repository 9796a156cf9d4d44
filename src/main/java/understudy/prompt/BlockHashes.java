package understudy.prompt;

import org.jspecify.annotations.Nullable;

/** Hashes of the full blocks of a prompt, and the chain that goes on behind them. Immutable. */
final class BlockHashes {
    private final BlockHasher hasher;
    private final String loraName;
    private final String cacheSalt;
    private final HashPath path;
    private final HashChain end;

    private BlockHashes(BlockHasher hasher, Prompt prompt, HashPath path, HashChain end) {
        this.hasher = hasher;
        loraName = prompt.loraName();
        cacheSalt = prompt.cacheSalt();
        this.path = path;
        this.end = end;
    }

    /** Hashes tokens for a prompt, whose LoRA adapter, salt and the like tell equal tokens apart. */
    static BlockHashes of(BlockHasher hasher, Prompt prompt, TokenSequence tokens) {
        return of(hasher, prompt, tokens, HashPath.EMPTY, 0, hasher.start(prompt));
    }

    /**
     * Hashes the blocks of tokens that are not hashed yet, for such a prompt.
     *
     * @param numShared how many tokens they have in common with those of these hashes, from the first on
     */
    BlockHashes goingOn(Prompt prompt, TokenSequence tokens, int numShared) {
        int numKnown = Math.min(path.length(), numShared / hasher.blockSize());
        var chain = chainBehind(numKnown);
        return chain == null ? of(hasher, prompt, tokens) : of(hasher, prompt, tokens, path, numKnown, chain);
    }

    private @Nullable HashChain chainBehind(int numBlocks) {
        if (numBlocks == path.length()) {
            return end.fork();
        }
        return numBlocks == 0 ? null : hasher.resume(path.get(numBlocks - 1));
    }

    private static BlockHashes of(
            BlockHasher hasher, Prompt prompt, TokenSequence tokens, HashPath known, int numKnown, HashChain chain) {
        int blockSize = hasher.blockSize();
        var room = new BlockRoom();
        var hashes = new long[tokens.length() / blockSize - numKnown];
        chain.nextAll(tokens, numKnown * blockSize, blockSize, hashes, room);
        return new BlockHashes(hasher, prompt, known.goingOn(numKnown, hashes), chain);
    }

    /** Returns whether these are a prompt's hashes, as far as that is not a matter of its tokens. */
    boolean areFor(Prompt prompt, BlockHasher wanted) {
        // As a rule it is the same one, and a record's equals takes milliseconds to link.
        return (hasher == wanted || hasher.equals(wanted))
                && loraName.equals(prompt.loraName())
                && cacheSalt.equals(prompt.cacheSalt());
    }

    HashPath path() {
        return path;
    }

    /** Returns a chain of its own that stands behind the last full block. */
    HashChain chainEnd() {
        return end.fork();
    }
}
