package understudy.kvcache;

/** Unit of a cached prefix, found again as a whole or not at all. */
public enum PrefixUnit {
    /** Every full block of a sequence, behind equal blocks (vLLM, SGLang). */
    BLOCK {
        @Override
        public int minBlocks() {
            return 2;
        }
    },
    /** A whole prompt together with its last logits (roseinfer's {@code PrefixCache}). */
    PROMPT {
        @Override
        public int minBlocks() {
            return 3;
        }
    };

    /**
     * Returns the fewest physical blocks that can hold anything: the null block, one to use, and, where equal prompts
     * share a block that is not full, one for the copy of the request that writes into it.
     */
    public abstract int minBlocks();

    /** Returns the tokens of the longest sequence for which {@code numGpuBlocks} are enough. */
    public long maxTokens(int numGpuBlocks, int blockSize) {
        return (numGpuBlocks - minBlocks() + 1L) * blockSize;
    }
}
