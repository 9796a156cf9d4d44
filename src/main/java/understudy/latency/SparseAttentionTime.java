package understudy.latency;

import understudy.latency.LlmSpec.Indexer;
import understudy.latency.LlmSpec.LatentAttention;

/**
 * Time of choosing the tokens that latent attention attends to (DeepSeek's sparse attention), and of attending to them in
 * prefill chunks, in one layer on one GPU of a tensor-parallel group.
 *
 * <p>Each GPU weighs the queries of the whole indexer against the keys of all tokens before, in FP8, and sorts out the
 * highest. A chunk's tokens then each attend to compressed vectors of their own. The kernel (<a
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
    private static final double LOGIT_BYTES = 4;

    /** Share of the BF16 rate: 640 TFLOP/s on an H800, 1450 on a B200 (FlashMLA's README). */
    private static final double CHUNK_COMPUTE = 0.65;

    /** Share of the FP8 rate in the indexer: assumed. */
    private static final double INDEX_COMPUTE = 0.5;

    /** Weighing, choosing, and finding the places of what was chosen. */
    private static final int INDEX_KERNELS = 3;

    private final Indexer indexer;
    private final double chunkOverheadMicros;
    private final double microsPerChosenToken;
    private final double indexOverheadMicros;
    private final double microsPerKey;
    private final double microsPerIndexedPair;
    private final double microsPerLogit;

    SparseAttentionTime(Indexer indexer, LatentAttention dims, GpuSpec gpu, double headsPerRank) {
        this.indexer = indexer;
        chunkOverheadMicros = gpu.attention().kernel().overheadMicros();
        int tile = gpu.fp4Tflops() > 0 ? HEADS_PER_TILE_ON_BLACKWELL : HEADS_PER_TILE;
        double heads = tile * Math.ceil(headsPerRank / tile);
        microsPerChosenToken =
                FLOP * heads * (2.0 * dims.kvRank() + dims.ropeDim()) / (CHUNK_COMPUTE * gpu.flopPerMicro());
        double bytesPerMicro = gpu.elementwise().bandwidth() * gpu.bytesPerMicro();
        indexOverheadMicros = INDEX_KERNELS * gpu.elementwise().overheadMicros();
        microsPerKey = indexer.keyBytes() / bytesPerMicro;
        microsPerIndexedPair = FLOP * indexer.numHeads() * indexer.headDim() / (INDEX_COMPUTE * gpu.fp8FlopPerMicro());
        // Written, and read again.
        microsPerLogit = 2 * LOGIT_BYTES / bytesPerMicro;
    }

    /** Returns the most tokens that a decode attends to. */
    int topK() {
        return indexer.topK();
    }

    /** Returns whether some token of a chunk has more tokens before it than it attends to. */
    boolean chooses(int chunkTokens, int contextTokens) {
        return chunkTokens + contextTokens > indexer.topK();
    }

    /** Returns the time of finding what a batch attends to. */
    double indexMicros(BatchShape batch) {
        double keys = 0;
        double pairs = 0;
        if (batch.numDecodes() > 0) {
            double tokens = (double) batch.numTokens() - batch.numPrefillTokens();
            keys = batch.decodeKvTokens();
            pairs = keys * tokens / batch.numDecodes();
        }
        for (int i = 0; i < batch.numChunks(); i++) {
            double chunk = batch.chunkTokens(i);
            double context = batch.chunkContextTokens(i);
            if (chooses(batch.chunkTokens(i), batch.chunkContextTokens(i))) {
                keys += context + chunk;
                pairs += chunk * (context + (chunk + 1) / 2);
            }
        }
        return keys == 0
                ? 0
                : indexOverheadMicros
                        + Math.max(keys * microsPerKey, pairs * microsPerIndexedPair)
                        + pairs * microsPerLogit;
    }

    /** Returns the time in which a chunk's tokens attend to what was chosen for each. */
    double chunkMicros(double chunkTokens, double contextTokens) {
        double atMost = Math.min(chunkTokens, Math.max(0, indexer.topK() - contextTokens));
        double few = atMost * (contextTokens + (atMost + 1) / 2);
        double chosen = few + (chunkTokens - atMost) * indexer.topK();
        return chunkOverheadMicros + chosen * microsPerChosenToken;
    }
}
