package understudy.latency;

import understudy.latency.LlmSpec.Indexer;
import understudy.latency.LlmSpec.LatentAttention;

/**
 * Time of choosing the tokens that latent attention attends to (DeepSeek's sparse attention), and of attending to them in
 * prefill chunks, in one layer on one GPU of a tensor-parallel group.
 *
 * <p>Each GPU weighs the queries of the whole indexer against the keys of all tokens before, in FP8 (DeepGEMM), and chooses
 * the highest, a block of threads for each row (SGLang's {@code fast_topk}). Both are fitted to times on an H200 that SGLang's
 * repository has ({@code nsa/hisa/benchmarks/_results}, 21 April 2026); choosing is taken to last as long on other GPUs.
 * Decodes count with their mean context.
 *
 * <p>A chunk's tokens then each attend to compressed vectors of their own. The kernel (<a
 * href="https://github.com/deepseek-ai/FlashMLA">FlashMLA</a>) computes 64 query heads at a time, or 128 on Blackwell, and
 * engines fill up what is missing with zeros.
 *
 * <p>As long as a sequence has no more tokens than would be chosen, there is no choice. SGLang attends to such chunks as
 * without an indexer; vLLM does not, which is passed over.
 */
final class SparseAttentionTime {
    private static final int HEADS_PER_TILE = 64;
    private static final int HEADS_PER_TILE_ON_BLACKWELL = 128;
    private static final double FLOP = 2;

    /** Share of the BF16 rate: 640 TFLOP/s on an H800, 1450 on a B200 (FlashMLA's README). */
    private static final double CHUNK_COMPUTE = 0.65;

    /** Fixed time of weighing, and its shares of the FP8 rate and of the bandwidth. */
    private static final double WEIGHING_MICROS = 8;

    private static final double WEIGHING_COMPUTE = 0.5;
    private static final double WEIGHING_BANDWIDTH = 0.8;

    /** Fixed time of choosing, times of a row and of each of its tokens, and rows that are chosen from at the same time. */
    private static final double CHOOSING_MICROS = 9;

    private static final double MICROS_PER_ROW = 2;
    private static final double MICROS_PER_WEIGHED_TOKEN = 0.45e-3;
    private static final int PARALLEL_ROWS = 132;

    private final Indexer indexer;
    private final double chunkOverheadMicros;
    private final double microsPerChosenToken;
    private final double microsPerKey;
    private final double microsPerIndexedPair;

    SparseAttentionTime(Indexer indexer, LatentAttention dims, GpuSpec gpu, double headsPerRank) {
        this.indexer = indexer;
        chunkOverheadMicros = gpu.attention().kernel().overheadMicros();
        int tile = gpu.fp4Tflops() > 0 ? HEADS_PER_TILE_ON_BLACKWELL : HEADS_PER_TILE;
        double heads = tile * Math.ceil(headsPerRank / tile);
        microsPerChosenToken =
                FLOP * heads * (2.0 * dims.kvRank() + dims.ropeDim()) / (CHUNK_COMPUTE * gpu.flopPerMicro());
        microsPerKey = indexer.keyBytes() / (WEIGHING_BANDWIDTH * gpu.bytesPerMicro());
        microsPerIndexedPair =
                FLOP * indexer.numHeads() * indexer.headDim() / (WEIGHING_COMPUTE * gpu.fp8FlopPerMicro());
    }

    /** Returns the most tokens that a decode attends to. */
    int topK() {
        return indexer.topK();
    }

    /** Returns whether there is a choice for some token of a chunk. */
    boolean chooses(int chunkTokens, int contextTokens) {
        return indexer.chooses(chunkTokens, contextTokens);
    }

    /** Returns the time of finding what a batch attends to: weighing all tokens before its own, and choosing from them. */
    double indexMicros(BatchShape batch) {
        double keys = 0;
        double pairs = 0;
        double rows = 0;
        double longestRow = 0;
        if (batch.numDecodes() > 0) {
            rows = (double) batch.numTokens() - batch.numPrefillTokens();
            keys = batch.decodeKvTokens();
            longestRow = keys / batch.numDecodes();
            pairs = longestRow * rows;
        }
        for (int i = 0; i < batch.numChunks(); i++) {
            double chunk = batch.chunkTokens(i);
            double context = batch.chunkContextTokens(i);
            if (chooses(batch.chunkTokens(i), batch.chunkContextTokens(i))) {
                rows += chunk;
                keys += context + chunk;
                longestRow = Math.max(longestRow, context + chunk);
                pairs += chunk * (context + (chunk + 1) / 2);
            }
        }
        return rows == 0
                ? 0
                : WEIGHING_MICROS
                        + Math.max(keys * microsPerKey, pairs * microsPerIndexedPair)
                        + CHOOSING_MICROS
                        + Math.max(rowMicros(1, longestRow), rowMicros(rows, pairs) / PARALLEL_ROWS);
    }

    private static double rowMicros(double rows, double tokens) {
        return rows * MICROS_PER_ROW + tokens * MICROS_PER_WEIGHED_TOKEN;
    }

    /** Returns the time in which a chunk's tokens attend to what was chosen for each. */
    double chunkMicros(double chunkTokens, double contextTokens) {
        double atMost = Math.min(chunkTokens, Math.max(0, indexer.topK() - contextTokens));
        double few = atMost * (contextTokens + (atMost + 1) / 2);
        double chosen = few + (chunkTokens - atMost) * indexer.topK();
        return chunkOverheadMicros + chosen * microsPerChosenToken;
    }
}
