package understudy.kvcache;

/**
 * Sizes and switches of one replica's KV cache, under vLLM's names.
 *
 * @param hasher turns tokens into block hashes; it carries {@code block-size}
 * @param numGpuBlocks physical blocks, the null block included; at least 2
 * @param enablePrefixCaching whether full blocks stay findable
 * @param maxModelLen longest sequence in tokens, prompt and output together; at least 1
 * @param recordEvents whether to collect {@link KvEvent}s
 */
public record KvCacheConfig(
        BlockHasher hasher, int numGpuBlocks, boolean enablePrefixCaching, int maxModelLen, boolean recordEvents) {

    /** Checks the ranges. */
    public KvCacheConfig {
        if (numGpuBlocks < 2 || maxModelLen < 1) {
            throw new IllegalArgumentException("numGpuBlocks " + numGpuBlocks + ", maxModelLen " + maxModelLen);
        }
    }

    /** Returns the tokens for which there are blocks when nobody holds any. */
    public long maxTokens() {
        return (numGpuBlocks - 1L) * blockSize();
    }

    /** Returns the tokens per block. */
    public int blockSize() {
        return hasher.blockSize();
    }
}
