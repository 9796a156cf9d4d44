package understudy.latency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static understudy.latency.RooflineFixture.decodes;
import static understudy.latency.RooflineFixture.dense;
import static understudy.latency.RooflineFixture.gpu;
import static understudy.latency.RooflineFixture.part;

import org.junit.jupiter.api.Test;
import understudy.latency.LlmSpec.LinearAttention;
import understudy.latency.LlmSpec.QkNorm;

/**
 * Two layers of one head of keys and two of values, matrices of 4 x 8 elements of four bytes, on a GPU of 10^6 operations and
 * 10^3 bytes per us, whose kernels take 3 us and reach a quarter of the bandwidth, and half of the arithmetic.
 */
final class LinearAttentionTimeTest {
    private static final double EXACT = 1e-9;
    private static final LinearAttention DIMS = new LinearAttention(2, 1, 2, 4, 8, 4, 4);
    private static final GpuSpec GPU = gpu(3, 0).withLinearAttention(new GpuSpec.LinearAttention(5, 0.5, 0.5, 0.25));

    /** 2 x 4 x 8 x 4 = 256 bytes are read and written at 250 per us: 2.048 us for each of 3, or half of it on two GPUs. */
    @Test
    void decode_readsAndWritesItsStates() {
        assertThat(time(1).micros(decodes(3, 99))).isCloseTo(2 * (3 + 3 * 2.048), within(EXACT));
        assertThat(time(2).micros(decodes(3, 99))).isCloseTo(2 * (3 + 3 * 1.024), within(EXACT));
        // However long the sequence is.
        assertThat(time(1).micros(decodes(3, 9))).isEqualTo(time(1).micros(decodes(3, 99)));
    }

    /** Three are read, and one more for each of the 4 drafts is written: 10 times 256 bytes at 250 per us. */
    @Test
    void verification_writesAStateForEachDraft() {
        var batch = new BatchShape.Builder();
        batch.addVerification(2, 99);
        batch.addVerification(2, 99);
        batch.add(1, 99, true);

        assertThat(time(1).micros(batch.build())).isCloseTo(2 * (3 + 10 * 1.024), within(EXACT));
    }

    /**
     * A token of a head has 64 (3 x 4 + 2 x 8) products within its block, and 3 x 4 x 8 with the state: 2 x 1888 operations,
     * or 7552 of both heads, 15.104 ns. The longer chunk waits 20 x 0.5 us for its blocks; 5 us are fixed.
     */
    @Test
    void chunks_waitForTheLongest() {
        var batch = new BatchShape.Builder();
        batch.add(10, 0, false);
        batch.add(20, 7, false);

        assertThat(time(1).micros(batch.build())).isCloseTo(2 * (5 + 10 + 30 * 0.015104), within(EXACT));
    }

    /**
     * Of three layers two have linear attention. The other one reads 3 x 100 tokens of 20 bytes: 6 us, and 3 us.
     */
    @Test
    void otherLayers_attendAsUsual() {
        var llm = dense().with().numLayers(3).linearAttention(DIMS).build();

        assertThat(part("attention", llm, GPU, Parallelism.ofTensors(1), decodes(3, 99)))
                .isCloseTo(9 + 2 * (3 + 3 * 2.048), within(EXACT));
        assertThat(llm.kvBytesPerTokenPerRank(1, 2)).isEqualTo(20);
        // Matrices of 256 bytes, and 3 tokens of the convolution's 4 + 4 + 16 elements of two bytes, in two layers.
        assertThat(llm.stateBytesPerRank(1)).isEqualTo(2 * (256 + 3 * 24 * 2));
        assertThat(llm.stateBytesPerRank(2)).isEqualTo(256 + 3 * 24 * 2);
        // One layer of a pipeline's three stages has two thirds of a layer, rounded down.
        assertThat(llm.stage(3).numAttentionLayers()).isEqualTo(1);
    }

    /**
     * Without arithmetic and fixed times a layer with linear attention has 24 + 16 outputs of 10 inputs, 4 of 10, and 10 of
     * 16: 600 weights of two bytes, and 90 activations; one with attention 20 of 10, and 10 of 10, and 50. Elementwise:
     * both have norms, linear attention moves 4 x 24 + 5 x 16 elements, the rotation 2 x 20.
     */
    @Test
    void projections_areThoseOfTheLayer() {
        var plain = dense().with()
                .numLayers(2)
                .feedForward(new LlmSpec.FeedForward(20, true, 2, 0, 0, 0, 0, false, false))
                .build();
        var linear = plain.with()
                .linearAttention(new LinearAttention(1, 1, 2, 4, 8, 4, 4))
                .build();
        double more = micros(linear) - micros(plain);

        // Products take the root of both squares: a token's arithmetic of 2 x 600 operations is 1.2 ns, and vanishes.
        assertThat(more).isCloseTo((2 * 600 + 2 * 90 - 2 * 300 - 2 * 50 + 2 * 176 - 2 * 40) / 1e3, within(1e-5));
    }

    /** 10 outputs of 10 inputs more: 100 weights and 10 activations. 10 gates and what they are for are read, and 10 written. */
    @Test
    void outputGate_isMadeByTheProjectionOfQueries() {
        var attention = new LlmSpec.Attention(2, 1, 5, QkNorm.NONE, true, 0, 0, null);
        double more = micros(dense(attention, WeightFormat.BF16)) - micros(dense());

        assertThat(more).isCloseTo((2 * 110 + 2 * 30) / 1e3, within(1e-5));
    }

    /** At 3 us each: three products for two, and four element-wise kernels for the rotation. */
    @Test
    void kernels_areCounted() {
        var plain = dense().with()
                .numLayers(2)
                .feedForward(new LlmSpec.FeedForward(20, true, 2, 0, 0, 0, 0, false, false))
                .build();
        var linear = plain.withLinearAttention(new LinearAttention(1, 1, 2, 4, 8, 4, 4));
        double fixed = micros(linear, gpu(3, 0)) - micros(plain, gpu(3, 0)) - (micros(linear) - micros(plain));

        assertThat(fixed).isCloseTo(3 * (1 + 3), within(EXACT));
    }

    /** A product and two element-wise kernels, at 3 us each; 10 weights and 11 activations, and 2 x 10 elements, of two bytes. */
    @Test
    void gateOfSharedExpert_hasKernels() {
        var plain = RooflineFixture.experts()
                .withFeedForward(new LlmSpec.FeedForward(0, true, 0, 8, 2, 4, 4, false, false));
        var gated = plain.withFeedForward(new LlmSpec.FeedForward(0, true, 0, 8, 2, 4, 4, true, false));

        assertThat(micros(gated, gpu(3, 0)) - micros(plain, gpu(3, 0)))
                .isCloseTo(3 * (1 + 2) + (2 * 21 + 2 * 20) / 1e3, within(1e-5));
    }

    private static double micros(LlmSpec llm) {
        return micros(llm, RooflineFixture.GPU);
    }

    private static double micros(LlmSpec llm, GpuSpec gpu) {
        return new LayerTime(llm, gpu, Parallelism.ofTensors(1)).micros(1, 1);
    }

    private static LinearAttentionTime time(int tensorParallelSize) {
        return new LinearAttentionTime(DIMS, GPU, tensorParallelSize);
    }
}
