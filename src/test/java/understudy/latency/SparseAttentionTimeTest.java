package understudy.latency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;
import static understudy.latency.RooflineFixture.GPU;
import static understudy.latency.RooflineFixture.chunk;
import static understudy.latency.RooflineFixture.decodes;
import static understudy.latency.RooflineFixture.dense;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.latency.LlmSpec.Attention;
import understudy.latency.LlmSpec.Indexer;
import understudy.latency.LlmSpec.LatentAttention;
import understudy.latency.LlmSpec.QkNorm;

/**
 * One layer of four heads with vectors of 3 + 2 elements, as in {@link LatentAttentionTimeTest}, of which 16 are attended to:
 * two heads of 128 elements choose them by keys of 128 + 4 bytes. The GPU has 10^6 operations in BF16, twice as many in FP8,
 * and 10^3 bytes per us. Weighing takes 8 us beside 0.165 us for each key, at 80 % of the bandwidth, and choosing 9 us beside
 * 2 us and 0.45 ns for each token of the longest row.
 */
final class SparseAttentionTimeTest {
    private static final double EXACT = 1e-5;
    private static final Indexer INDEXER = new Indexer(2, 128, 16);

    /**
     * 3 x 16 vectors of 10 bytes, and both ways of 0.264 us. 300 keys take 49.5 us, which 2 x 2 x 128 operations with each do
     * not reach; rows have 100 tokens.
     */
    @Test
    void decodes_attendToWhatIsChosen() {
        assertThat(micros(INDEXER, decodes(3, 99))).isCloseTo(0.48 + 2 * 0.264 + 49.5 + 19.045, within(EXACT));
        // Few tokens are weighed, too, though all are attended to.
        assertThat(micros(INDEXER, decodes(3, 9))).isCloseTo(0.3 + 2 * 0.264 + 4.95 + 19.0045, within(EXACT));
    }

    /**
     * Two of a decode's tokens attend to 16 each, 32 vectors of 10 bytes; both ways of two tokens have 96 + 2 x 2 x 4 x (3 + 4)
     * bytes. 101 keys, which both are weighed against.
     */
    @Test
    void draft_attendsToWhatIsChosenForIt() {
        var batch = new BatchShape.Builder();
        batch.addVerification(1, 99);

        double expected = 0.32 + 2 * 0.208 + 16.665 + 19.04545;
        assertThat(micros(INDEXER, batch.build())).isCloseTo(expected, within(EXACT));
    }

    /**
     * Each of ten tokens attends to 16, of 64 heads 2 x 8 x 64 operations at 0.65 x 10^6 per us: 160 x 1.575 ns. Both ways
     * have 96 + 560 bytes. 30 keys, and a row of 30.
     */
    @Test
    void chunkBehindManyTokens_attendsToWhatIsChosen() {
        double expected = 160 * 1024 / 0.65e6 + 2 * 0.656 + 4.95 + 19.0135;

        assertThat(micros(INDEXER, chunk(10, 20))).isCloseTo(expected, within(EXACT));
    }

    /** The first six of ten tokens behind ten have 11 to 16, 81 together, and the others 16 each; 20 keys. */
    @Test
    void firstTokensOfAChunk_attendToAll() {
        double expected = (81 + 4 * 16) * 1024 / 0.65e6 + 2 * 0.656 + 3.3 + 19.009;

        assertThat(micros(INDEXER, chunk(10, 10))).isCloseTo(expected, within(EXACT));
    }

    @Test
    void withoutAChoice_chunkIsAsWithoutAnIndexer() {
        assertThat(micros(INDEXER, chunk(10, 6))).isEqualTo(micros(null, chunk(10, 6)));
    }

    /** 1000 decodes of 100 tokens: 100,000 keys of 0.165 us; of 1000 rows of 2.045 us 132 are chosen from at a time. */
    @Test
    void manyRows_areChosenFromInTurns() {
        assertThat(index(GPU, 2).indexMicros(decodes(1000, 99)))
                .isCloseTo(8 + 16_500 + 9 + 1000 * 2.045 / 132, within(1e-3));
    }

    /**
     * DeepGEMM's {@code fp8_mqa_logits} and {@code fast_topk} on an H200, 64 heads of 128: decodes, and chunks of 8192 tokens
     * or, first, of 4096, by what is before them; ms as SGLang's repository has them.
     */
    @ParameterizedTest
    @CsvSource({
        "1, 1, 4095, 0.021",
        "1, 1, 65535, 0.048",
        "8, 1, 16383, 0.030",
        "8, 1, 65535, 0.068",
        "32, 1, 4095, 0.027",
        "32, 1, 16383, 0.047",
        "32, 1, 65535, 0.120",
        "64, 1, 4095, 0.034",
        "64, 1, 16383, 0.065",
        "64, 1, 65535, 0.188",
        "1, 4096, 0, 0.224",
        "1, 8192, 0, 0.755",
        "1, 8192, 8192, 2.011",
        "1, 8192, 24576, 4.893",
        "1, 8192, 57344, 10.282"
    })
    void publishedTimesOfTheIndexer_areNear(int sequences, int tokens, int context, double millis) {
        var gpu = GPU.with()
                .bf16Tflops(989)
                .fp8Tflops(1979)
                .bandwidthGbPerSecond(4800)
                .build();
        var batch = tokens == 1 ? decodes(sequences, context) : chunk(tokens, context);

        assertThat(index(gpu, 64).indexMicros(batch)).isCloseTo(1e3 * millis, withinPercentage(15));
    }

    private static SparseAttentionTime index(GpuSpec gpu, int numHeads) {
        var indexer = new Indexer(numHeads, 128, 2048);
        return new SparseAttentionTime(indexer, dims(indexer), gpu, 4);
    }

    /**
     * Each of two GPUs has the whole indexer: 256 queries of 6 elements, a key of 128 of 10, and 2 weights of 10, 2836 weights of
     * two bytes and 412 activations. Queries and key are rotated and quantized, 2 x 3 x 128 elements read and written. Three
     * products and five other kernels take 3 us each.
     */
    @Test
    void projectionsOfTheIndexer_areOnEachGpu() {
        double more = layerMicros(INDEXER) - layerMicros(null);

        assertThat(more).isCloseTo(8 * 3 + (2 * (2836 + 412) + 2 * 2 * 768) / 1e3, within(1e-4));
    }

    private static double layerMicros(@Nullable Indexer indexer) {
        var latent = new LatentAttention(6, 3, 2, 4, 4, indexer);
        var llm = dense(new Attention(4, 4, 6, QkNorm.NONE, false, 0, 0, latent), WeightFormat.BF16);
        return new LayerTime(llm, RooflineFixture.gpu(3, 0), Parallelism.ofTensors(2)).micros(1, 1);
    }

    /** Kernels on Blackwell, which has arithmetic in FP4, compute 128 heads at a time. */
    @Test
    void headsAreFilledUp() {
        var time = new SparseAttentionTime(INDEXER, dims(INDEXER), GPU, 4);
        var onBlackwell = new SparseAttentionTime(INDEXER, dims(INDEXER), GPU.withFp4Tflops(4), 4);

        assertThat(time.chunkMicros(10, 20)).isCloseTo(160 * 1024 / 0.65e6, within(EXACT));
        assertThat(onBlackwell.chunkMicros(10, 20)).isCloseTo(160 * 2048 / 0.65e6, within(EXACT));
    }

    /**
     * FlashMLA on Blackwell with 32 heads and 2048 chosen tokens, by tokens of a chunk, in ms, as published with vLLM's pull
     * request 33451; B200's data sheet says 2250 TFLOP/s.
     */
    @ParameterizedTest
    @CsvSource({"512, 0.226", "1024, 0.439", "2048, 0.860", "4096, 1.683"})
    void publishedKernels_areNear(int tokens, double millis) {
        var gpu = GPU.with().bf16Tflops(2250).fp4Tflops(9000).build();
        var dims = new LatentAttention(1536, 512, 64, 128, 128, null);
        var time = new SparseAttentionTime(new Indexer(64, 128, 2048), dims, gpu, 32);

        assertThat(time.chunkMicros(tokens, 16_384)).isCloseTo(1e3 * millis, withinPercentage(12));
    }

    private static double micros(@Nullable Indexer indexer, BatchShape batch) {
        var llm = dense(new Attention(4, 4, 6, QkNorm.NONE, false, 0, 0, dims(indexer)), WeightFormat.BF16);
        return new AttentionTime(llm, GPU, 1, 2).micros(batch);
    }

    private static LatentAttention dims(@Nullable Indexer indexer) {
        return new LatentAttention(0, 3, 2, 4, 4, indexer);
    }
}
