package understudy.adopt;

import java.util.function.LongUnaryOperator;

/**
 * KV blocks behind the number of tokens that vLLM's start log has.
 *
 * <p>{@code get_kv_cache_capacity} of 2026 tells the longest request times the requests of that length that fit: {@code
 * int(num_blocks / blocks_per_request * max_model_len)}. Before, it was {@code num_blocks // num_groups * block_size}. With
 * one group of layers, and a length that is full blocks, both are {@code num_blocks * block_size}.
 *
 * @param numBlocks the null block included
 * @param numTokens that vLLM would print for them
 */
record BlockCount(int numBlocks, long numTokens) {
    /** The quotient is printed with two digits. */
    private static final double PRECISION = 0.0051;

    /**
     * Returns the blocks for which vLLM prints a number of tokens, or one that is less by a part of a block.
     *
     * @param maxModelLen of one request, or 0 if it is not known
     * @param maxConcurrency that is printed behind it, or 0 if it is not
     * @param numGroups of layers, each with blocks of its own
     * @param blocksPerRequest of a request of the longest length, of all groups
     */
    static BlockCount of(
            long numTokens,
            int blockSize,
            long maxModelLen,
            double maxConcurrency,
            int numGroups,
            LongUnaryOperator blocksPerRequest) {
        boolean isProduct = maxModelLen > 0 && Math.abs((double) numTokens / maxModelLen - maxConcurrency) < PRECISION;
        if (!isProduct || (numGroups == 1 && maxModelLen % blockSize == 0)) {
            long each = numTokens / blockSize;
            return new BlockCount(Math.toIntExact(each * numGroups), each * blockSize);
        }
        long perRequest = blocksPerRequest.applyAsLong(maxModelLen);
        long numBlocks = -Math.floorDiv(-numTokens * perRequest, maxModelLen);
        return new BlockCount(Math.toIntExact(numBlocks), (long) ((double) numBlocks / perRequest * maxModelLen));
    }
}
