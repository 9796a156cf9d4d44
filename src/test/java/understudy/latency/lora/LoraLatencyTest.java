package understudy.latency.lora;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.latency.BatchShape;
import understudy.latency.LlmSpec;
import understudy.latency.LlmSpec.Attention;
import understudy.latency.LlmSpec.FeedForward;
import understudy.latency.LlmSpec.LatentAttention;
import understudy.latency.Share;
import understudy.latency.WeightFormat;

/** What adapters weigh, and what they add to a step. */
final class LoraLatencyTest {
    private static final LoraCost COST = new LoraCost(1_000, 100, 10, 50_000, 20_000);
    private static final LoraLatency LATENCY = new LoraLatency(batch -> 7_000, COST);

    /**
     * Llama-3.1-8B, elements of a layer at rank 1: q, k, v read 3 x 4096 and write 48 heads x 128 = 18,432; o 4096 + 4096 =
     * 8,192; gate and up 2 x (4096 + 14336) = 36,864; down 18,432: together 81,920, in 32 layers 2,621,440. On two GPUs
     * 3 x 4096 + 24 x 128 = 15,360; 2048 + 4096 = 6,144; 2 x (4096 + 7168) = 22,528; 7168 + 4096 = 11,264: 55,296, in 32
     * layers 1,769,472. Four fused projections have 8 kernels in each of 32 layers.
     */
    @ParameterizedTest
    @CsvSource({"1, 2621440", "2, 1769472"})
    void adapter_hasTwoMatricesForEachProjection(int tensorParallelSize, double elements) {
        var size = AdapterSize.of(llama(), tensorParallelSize);

        assertThat(size.elements()).isEqualTo(elements);
        assertThat(size.numKernels()).isEqualTo(256);
        assertThat(size.bytes(16)).isEqualTo(elements * 16 * 2);
    }

    /**
     * One layer of experts behind a dense one, hidden size 64, latent attention with 2 heads: query 64 + 2 x 16 + 2 x (8 +
     * 4) = 120; key and value 64 + 2 x 32 + 4 + 2 x (8 + 8) = 164; output 2 x 8 + 64 = 80: 364 in each of two layers.
     * Dense of 96: 2 x (64 + 96) + 96 + 64 = 480; shared experts of 32: 2 x 96 + 96 = 288. Together 1,496. Attention has 5
     * projections, each feed-forward part 2: 2 x (2 x 5 + 2 x 2) = 28 kernels.
     */
    @Test
    void routedExperts_haveNoAdapter() {
        var latent = new LatentAttention(16, 32, 4, 8, 8);
        var llm = llm(2, 64, new Attention(2, 2, 12, false, 0, 0, latent), new FeedForward(96, true, 1, 8, 2, 16, 32));

        assertThat(AdapterSize.of(llm, 1)).isEqualTo(new AdapterSize(1_496, 28));
    }

    /** Kernels 1000, three adapters 3 x 100, 40 tokens x 10; one load 50,000, two copies 2 x 20,000. */
    @Test
    void step_waitsForItsAdapters() {
        var batch = batch(new BatchShape.Loras(3, 40, 1, 2));

        assertThat(LATENCY.stepNanos(batch)).isEqualTo(7_000 + 1_000 + 300 + 400 + 50_000 + 40_000);
        assertThat(LATENCY.explain(batch).stream().mapToDouble(Share::nanos).sum())
                .isCloseTo((double) LATENCY.stepNanos(batch), within(1e-6));
    }

    @Test
    void stepWithoutAdapters_takesNoLonger() {
        assertThat(LATENCY.stepNanos(batch(BatchShape.Loras.NONE))).isEqualTo(7_000);
    }

    @Test
    void adapters_stayWithABatchOfAGroup() {
        var loras = new BatchShape.Loras(1, 1, 0, 0);

        assertThat(batch(loras).inGroupOf(4).loras()).isEqualTo(loras);
    }

    private static BatchShape batch(BatchShape.Loras loras) {
        var batch = new BatchShape.Builder();
        batch.add(1, 10, true);
        batch.setLoras(loras);
        return batch.build();
    }

    private static LlmSpec llama() {
        return llm(
                32, 4096, new Attention(32, 8, 128, false, 0, 0, null), new FeedForward(14_336, true, 32, 0, 0, 0, 0));
    }

    private static LlmSpec llm(int numLayers, int hiddenSize, Attention attention, FeedForward feedForward) {
        return new LlmSpec(
                "test",
                numLayers,
                hiddenSize,
                1_000,
                false,
                4_096,
                attention,
                feedForward,
                WeightFormat.BF16,
                WeightFormat.BF16);
    }
}
