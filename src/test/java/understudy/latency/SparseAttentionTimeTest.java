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

/**
 * One layer of four heads with vectors of 3 + 2 elements, as in {@link LatentAttentionTimeTest}, of which 16 are attended to:
 * two heads of 128 elements choose them by keys of 128 + 4 bytes. The GPU has 10^6 operations in BF16, twice as many in FP8,
 * and 10^3 bytes per us.
 */
final class SparseAttentionTimeTest {
    private static final double EXACT = 1e-5;
    private static final Indexer INDEXER = new Indexer(2, 128, 16);

    /**
     * 3 x 16 vectors of 10 bytes, and both ways of 0.264 us. 300 keys of 132 bytes, 39.6 us, which 2 x 2 x 128 operations
     * with each do not reach; 300 results are written and read, 8 bytes each.
     */
    @Test
    void decodes_attendToWhatIsChosen() {
        assertThat(micros(INDEXER, decodes(3, 99))).isCloseTo(0.48 + 2 * 0.264 + 39.6 + 2.4, within(EXACT));
        // Few tokens are weighed, too, though all are attended to.
        assertThat(micros(INDEXER, decodes(3, 9))).isCloseTo(0.3 + 2 * 0.264 + 3.96 + 0.24, within(EXACT));
    }

    /**
     * Two of a decode's tokens attend to 16 each, 32 vectors of 10 bytes; both ways of two tokens have 96 + 2 x 2 x 4 x (3 + 4)
     * bytes. 101 keys of 132 bytes are weighed by both: 202 results.
     */
    @Test
    void draft_attendsToWhatIsChosenForIt() {
        var batch = new BatchShape.Builder();
        batch.addVerification(1, 99);

        double expected = 0.32 + 2 * 0.208 + 13.332 + 1.616;
        assertThat(micros(INDEXER, batch.build())).isCloseTo(expected, within(EXACT));
    }

    /**
     * Each of ten tokens attends to 16, of 64 heads 2 x 8 x 64 operations at 0.65 x 10^6 per us: 160 x 1.575 ns. Both ways
     * have 96 + 560 bytes. 30 keys, and 10 x 25.5 results.
     */
    @Test
    void chunkBehindManyTokens_attendsToWhatIsChosen() {
        double expected = 160 * 1024 / 0.65e6 + 2 * 0.656 + 3.96 + 2.04;

        assertThat(micros(INDEXER, chunk(10, 20))).isCloseTo(expected, within(EXACT));
    }

    /** The first six of ten tokens behind ten have 11 to 16, 81 together, and the others 16 each; 20 keys, 155 results. */
    @Test
    void firstTokensOfAChunk_attendToAll() {
        double expected = (81 + 4 * 16) * 1024 / 0.65e6 + 2 * 0.656 + 2.64 + 1.24;

        assertThat(micros(INDEXER, chunk(10, 10))).isCloseTo(expected, within(EXACT));
    }

    @Test
    void withoutAChoice_chunkIsAsWithoutAnIndexer() {
        assertThat(micros(INDEXER, chunk(10, 6))).isEqualTo(micros(null, chunk(10, 6)));
    }

    /** Three kernels take 3 us each; 100 keys of 132 bytes are read, and 100 results of 8 bytes moved. */
    @Test
    void indexer_hasKernelsOfItsOwn() {
        var time = new SparseAttentionTime(INDEXER, dims(INDEXER), RooflineFixture.gpu(3, 0), 4);

        assertThat(time.indexMicros(decodes(1, 99))).isCloseTo(9 + 13.2 + 0.8, within(EXACT));
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
        var llm = dense(new Attention(4, 4, 6, false, false, 0, 0, latent), WeightFormat.BF16);
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
        var llm = dense(new Attention(4, 4, 6, false, false, 0, 0, dims(indexer)), WeightFormat.BF16);
        return new AttentionTime(llm, GPU, 1, 2).micros(batch);
    }

    private static LatentAttention dims(@Nullable Indexer indexer) {
        return new LatentAttention(0, 3, 2, 4, 4, indexer);
    }
}
