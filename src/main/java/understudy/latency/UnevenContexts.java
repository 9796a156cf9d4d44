package understudy.latency;

import org.jspecify.annotations.Nullable;

/**
 * Attention of one layer for decodes of which some are longer than others: a thread block reads a KV head of a sequence by
 * itself, at a limited rate, so that bandwidth lies idle once fewer sequences are left than keep all multiprocessors busy.
 * FlashAttention 2 splits sequences only where there are too few thread blocks to go round; with many more than run at the
 * same time the long ones run beside the others.
 *
 * @param microsPerToken time in which one thread block reads a token; 0 if no sequence is read by one alone
 * @param numReaders sequences that keep all multiprocessors busy
 */
record UnevenContexts(double microsPerToken, double numReaders) {
    static final UnevenContexts NONE = new UnevenContexts(0, 0);

    private static final double BLOCKS_PER_MULTIPROCESSOR = 2;

    /** How fast one thread block reads, over a multiprocessor's share of the bandwidth: measured on an RTX 4090. */
    private static final double SHARES_PER_BLOCK = 3;

    /** FlashAttention 2 splits sequences if they need less than this share of the room. */
    private static final double SPLITS_BELOW = 0.8;

    /** Rounds of thread blocks from which on long ones hide behind others: measured on an RTX 4090. */
    private static final double HIDES_FROM = 2.4;

    /** Returns the figures of a GPU; none without a GPU, and for latent attention. */
    static UnevenContexts of(LlmSpec llm, @Nullable GpuSpec gpu, int tensorParallelSize, double bytesPerKvElement) {
        var attention = llm.attention();
        if (gpu == null || gpu.attention().numMultiprocessors() == 0 || attention.latent() != null) {
            return NONE;
        }
        double numBlocks = gpu.attention().numMultiprocessors();
        double numKvHeads = Math.max((double) attention.numKvHeads() / tensorParallelSize, 1);
        double bytesPerMicro =
                SHARES_PER_BLOCK * gpu.attention().kvBandwidth(bytesPerKvElement) * gpu.bytesPerMicro() / numBlocks;
        return new UnevenContexts(
                2.0 * attention.headDim() * bytesPerKvElement / bytesPerMicro, numBlocks / numKvHeads);
    }

    /** Returns the time of reading beyond that of equally long contexts. */
    double micros(BatchShape batch) {
        if (microsPerToken == 0) {
            return 0;
        }
        double rounds = batch.numDecodes() / (BLOCKS_PER_MULTIPROCESSOR * numReaders);
        if (rounds < SPLITS_BELOW && batch.numChunks() == 0) {
            return 0;
        }
        return microsPerToken * batch.idleDecodeKvTokens(numReaders) * Math.min(1, HIDES_FROM / rounds);
    }
}
