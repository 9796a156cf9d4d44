package understudy.prompt;

/** Turns token ids into block hashes. One instance is shared by all prompts of a cluster that use the same settings. */
public interface BlockHasher {

    /** Returns the tokens per block, at least 1. */
    int blockSize();

    /** Starts the chain of a prompt, before its first block, from what else tells its content apart. */
    HashChain start(Prompt prompt);
}
