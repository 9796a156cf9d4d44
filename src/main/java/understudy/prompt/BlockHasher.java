package understudy.prompt;

import org.jspecify.annotations.Nullable;

/** Turns token ids into block hashes. A value: hashers with the same settings are equal, and give the same hashes. */
public interface BlockHasher {

    /** Returns the tokens per block, at least 1. */
    int blockSize();

    /** Starts the chain of a prompt, before its first block, from what else tells its content apart. */
    HashChain start(Prompt prompt);

    /**
     * Returns a chain that stands behind a block, or null if its hash says too little for that, since it is only a part of
     * a longer digest.
     */
    default @Nullable HashChain resume(long hash) {
        return null;
    }
}
