package understudy.prompt;

/** Turns token ids into block hashes. A value: hashers with the same settings are equal, and give the same hashes. */
public interface BlockHasher {

    /** Returns the tokens per block, at least 1. */
    int blockSize();

    /** Starts the chain of a prompt, before its first block, from what else tells its content apart. */
    HashChain start(Prompt prompt);
}
