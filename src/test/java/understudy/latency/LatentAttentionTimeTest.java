package understudy.latency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static understudy.latency.RooflineFixture.GPU;
import static understudy.latency.RooflineFixture.chunk;
import static understudy.latency.RooflineFixture.decodes;
import static understudy.latency.RooflineFixture.dense;

import org.junit.jupiter.api.Test;
import understudy.latency.GpuSpec.LatentDecodes;
import understudy.latency.LlmSpec.Attention;
import understudy.latency.LlmSpec.LatentAttention;
import understudy.latency.LlmSpec.QkNorm;

/**
 * One layer with vectors of 3 + 2 elements, and heads with keys of 4 + 2 and values of 4, on a GPU of 10^6 operations and
 * 10^3 bytes per us. Arithmetic of products vanishes in their roots.
 */
final class LatentAttentionTimeTest {
    private static final double EXACT = 1e-5;
    private static final LatentAttention DIMS = new LatentAttention(0, 3, 2, 4, 4, null);

    /**
     * 300 tokens of 5 elements, 3 us. Each half of four heads has 12 weights, 96 bytes, and 7 activations, 56 bytes for each
     * of 3 tokens: 0.264 us.
     */
    @Test
    void decodes_readCompressedVectorsOnceForAllHeads() {
        assertThat(micros(4, 1, decodes(3, 99))).isCloseTo(3 + 2 * 0.264, within(EXACT));
        // Two GPUs have two of the heads each, and the same vectors: 48 bytes, and 28 for each token.
        assertThat(micros(4, 2, decodes(3, 99))).isCloseTo(3 + 2 * 0.132, within(EXACT));
    }

    /** 1000 heads are computed as 1024, with 2 (3 + 2 + 3) operations each: 16.384 ns for a token, of which 10 ns are read. */
    @Test
    void decodesOfManyHeads_waitForArithmetic() {
        double more = micros(1000, 1, decodes(1, 199)) - micros(1000, 1, decodes(1, 99));

        assertThat(more).isCloseTo(1.6384, within(EXACT));
    }

    /** Three tokens of 4 heads make 12 queries, which one tile of 64 has room for; of 1000 heads, 3008 in place of 1024. */
    @Test
    void drafts_areMoreQueries() {
        double few = verification(4, 199) - verification(4, 99);
        double many = verification(1000, 199) - verification(1000, 99);

        assertThat(few).isCloseTo(1, within(EXACT));
        assertThat(many).isCloseTo(100 * 3008 * 16e-6, within(EXACT));
    }

    /** One sequence is read at half of the bandwidth, and two at the same time at all of it. */
    @Test
    void oneSequence_isReadNoFasterThanItCanBe() {
        var slow = new LatentDecodes(1, 1, 0, 500);
        var gpu = gpu(new GpuSpec.Latent(1, 1, slow, slow));

        assertThat(more(gpu, 1)).isCloseTo(2, within(EXACT));
        assertThat(more(gpu, 2)).isCloseTo(2, within(EXACT));
        assertThat(more(gpu, 3)).isCloseTo(3, within(EXACT));
    }

    /**
     * Decompression has 32 x 3 weights, 192 bytes, and 70 bytes of activations for each token. A key has 4 (4 + 6) + 2
     * elements read and written. 10 x 138 / 2 pairs of 2 x 4 x 10 operations.
     */
    @Test
    void chunk_isDecompressed() {
        assertThat(micros(4, 1, chunk(10, 0))).isCloseTo(0.892 + 0.84 + 0.0552, within(EXACT));
    }

    /** 20 tokens before it: 1.592 us, read and written as vectors 0.4 us and as keys 1.68 us; 200 pairs; 3 x 160 elements. */
    @Test
    void chunkBehindOthers_decompressesThemAgain() {
        double context = micros(4, 1, chunk(10, 20)) - micros(4, 1, chunk(10, 0));

        assertThat(context).isCloseTo(1.592 + 0.4 + 1.68 + 0.016 + 0.96, within(EXACT));
    }

    /**
     * Beyond 65,536 tokens there are two rounds, each with weights of 192 bytes, and results are merged twice: 0.96 us. A
     * token more takes 70 + 20 + 84 bytes, and 10 pairs of 80 operations.
     */
    @Test
    void longContext_isDecompressedInRounds() {
        double more = micros(4, 1, chunk(10, 65_537)) - micros(4, 1, chunk(10, 65_536));

        assertThat(more).isCloseTo(0.192 + 0.96 + 0.174 + 0.0008, within(1e-3));
    }

    /** Halves of 96 + 560 bytes each, and 30 tokens of 10 bytes. With a cache in FP8 none is absorbed. */
    @Test
    void shortChunk_takesTheWayOfDecodes() {
        var decodes = new LatentDecodes(1, 1, 0, Double.POSITIVE_INFINITY);
        var gpu = gpu(new GpuSpec.Latent(1, 10, decodes, decodes));

        assertThat(time(4, gpu, 1, 2).micros(chunk(10, 20))).isCloseTo(2 * 0.656 + 0.3, within(EXACT));
        assertThat(time(4, gpu, 1, 2).micros(chunk(11, 20))).isEqualTo(micros(4, 1, chunk(11, 20)));
        assertThat(time(4, gpu, 1, 1).micros(chunk(10, 20)))
                .isEqualTo(time(4, GPU, 1, 1).micros(chunk(10, 20)));
    }

    private static double more(GpuSpec gpu, int numDecodes) {
        var time = time(4, gpu, 1, 2);
        return time.micros(decodes(numDecodes, 199)) - time.micros(decodes(numDecodes, 99));
    }

    private static double verification(int numHeads, int contextTokens) {
        var batch = new BatchShape.Builder();
        batch.addVerification(2, contextTokens);
        return micros(numHeads, 1, batch.build());
    }

    private static double micros(int numHeads, int tensorParallelSize, BatchShape batch) {
        return time(numHeads, GPU, tensorParallelSize, 2).micros(batch);
    }

    private static AttentionTime time(int numHeads, GpuSpec gpu, int tensorParallelSize, double bytesPerKvElement) {
        var llm = dense(new Attention(numHeads, numHeads, 6, QkNorm.NONE, false, 0, 0, DIMS), WeightFormat.BF16);
        return new AttentionTime(llm, gpu, tensorParallelSize, bytesPerKvElement);
    }

    private static GpuSpec gpu(GpuSpec.Latent latent) {
        var attention = GPU.attention();
        return GPU.withAttention(new GpuSpec.Attention(
                attention.kernel(),
                attention.fp8Bandwidth(),
                attention.fp8OverheadMicros(),
                attention.causalFactor(),
                attention.mixedPerGroup(),
                attention.microsPerChunkToken(),
                attention.numMultiprocessors(),
                attention.microsPerDecodedHead(),
                latent));
    }
}
