package understudy.latency.lora;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.latency.BatchShape;
import understudy.latency.LlmSpec;
import understudy.latency.LlmSpec.Attention;
import understudy.latency.LlmSpec.FeedForward;
import understudy.latency.LlmSpec.LatentAttention;
import understudy.latency.LlmSpec.QkNorm;
import understudy.latency.LlmSpecBuilder;
import understudy.latency.Share;
import understudy.latency.WeightFormat;

/** What adapters weigh, and what they add to a step. */
final class LoraLatencyTest {
    /** Two kernels for one matrix of 256 inputs and 128 outputs. */
    private static final AdapterSize SMALL = new AdapterSize(384, 2, 1, 1, 1, 1);

    private static final LoraCost COST = new LoraCost(new LoraKernels(SMALL, 16, 3, false, 500), 50_000, 20_000);
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
     * Llama-3.1-8B, a layer: q, k, v, o, gate, up, down are 7 matrices. Inputs: six of 4096, one of 14336, 38,912 / 256 =
     * 152 blocks. Outputs: 32 + 8 + 8 + 32 + 112 + 112 + 32 = 336 blocks of 128; with k and v as wide as q 384.
     */
    @Test
    void kernels_goThroughBlocksOfEachMatrix() {
        assertThat(AdapterSize.of(llama(), 1))
                .isEqualTo(new AdapterSize(2_621_440, 256, 32 * 7, 32 * 152, 32 * 336, 32 * 384));
    }

    /**
     * One layer of experts behind a dense one, hidden size 64, latent attention with 2 heads: query 64 + 2 x 16 + 2 x (8 +
     * 4) = 120; key and value 64 + 2 x 32 + 4 + 2 x (8 + 8) = 164; output 2 x 8 + 64 = 80: 364 in each of two layers.
     * Dense of 96: 2 x (64 + 96) + 96 + 64 = 480; shared experts of 32: 2 x 96 + 96 = 288. Together 1,496. Attention has 5
     * projections, each feed-forward part 2: 2 x (2 x 5 + 2 x 2) = 28 kernels; of these gate and up are two matrices, so
     * that there are 2 x 5 + 2 x 3 = 16. Inputs of attention 64 + 16 + 64 + 32 + 16 = 192, twice; 2 x 64 + 96 and 2 x 64 +
     * 32: 768 / 256 = 3 blocks. All outputs fit into one block.
     */
    @Test
    void routedExperts_haveNoAdapter() {
        var latent = new LatentAttention(16, 32, 4, 8, 8, null);
        var llm = llm(
                2,
                64,
                new Attention(2, 2, 12, QkNorm.NONE, false, 0, 0, latent),
                new FeedForward(96, true, 1, 8, 2, 16, 32, false, false));

        assertThat(AdapterSize.of(llm, 1)).isEqualTo(new AdapterSize(1_496, 28, 16, 3, 16, 16));
    }

    /**
     * Two dense layers, hidden size 64, of which one has linear attention. The other one: queries and gates of two heads of 8
     * are 32 outputs, key and value 8 each, 3 x 64 + 48 = 240; output 16 + 64 = 80. Linear: 8 + 16 outputs and 16 for the
     * gate, 2 x 64 + 40 = 168; output 80. Dense of 96 480 each: 1,528 together. Eight projections of two kernels each; 4 + 3 +
     * 2 x 3 matrices. Inputs 3 x 64 + 16, 2 x 64 + 16, and twice 2 x 64 + 96: 800 / 256.
     */
    @Test
    void linearAttention_hasAdapters() {
        var llm = llm(
                        2,
                        64,
                        new Attention(2, 1, 8, QkNorm.NONE, true, 0, 0, null),
                        new FeedForward(96, true, 2, 0, 0, 0, 0, false, false))
                .withLinearAttention(new LlmSpec.LinearAttention(1, 1, 2, 4, 8, 4, 2));

        assertThat(AdapterSize.of(llm, 1)).isEqualTo(new AdapterSize(1_528, 16, 13, 800 / 256.0, 13, 13));
    }

    /**
     * Two kernels of 500. 40 tokens are two blocks of 32 for the first, in 64 parts each, and one of 64 for the second:
     * 129 thread blocks in 3 + 1 slots of 0.72 ns. Three adapters of 13.3 tokens are three times one block: 31.7 and 20.5
     * ns each. 1000 + 371.52 + 156.6. One load 50,000, two copies 2 x 20,000.
     */
    @Test
    void step_waitsForItsAdapters() {
        var batch = batch(40, new BatchShape.Loras(3, 40, 1, 2));

        assertThat(COST.kernels().nanos(batch)).isCloseTo(1_528.12, within(1e-9));
        assertThat(LATENCY.stepNanos(batch)).isEqualTo(7_000 + 1_528 + 50_000 + 40_000);
        assertThat(LATENCY.explain(batch).stream().mapToDouble(Share::nanos).sum())
                .isCloseTo(98_528.12, within(1e-6));
    }

    /**
     * Of 200 tokens the first kernel has 7 blocks in 8 parts and twice that for rank 17, the second 4 blocks: 116. All of
     * one adapter: 7 x 2 x 31.7 and 4 x 20.5. 1000 + 116 x 4 x 0.72 + 525.8.
     */
    @Test
    void largeStep_isSplitLess() {
        var kernels = new LoraKernels(SMALL, 17, 3, false, 500);

        assertThat(kernels.nanos(batch(200, new BatchShape.Loras(1, 200, 0, 0))))
                .isCloseTo(1_859.88, within(1e-9));
    }

    /** 65 thread blocks for up to 32 tokens, in as many slots as the next power of two, of nine at most. */
    @ParameterizedTest
    @CsvSource({"1, 1", "2, 2", "3, 4", "4, 4", "5, 8", "8, 8"})
    void specialized_launchesForAdaptersInUse(int numAdapters, int numSlots) {
        var kernels = new LoraKernels(SMALL, 16, 8, true, 500);
        double expected = 1_000 + 65 * 0.72 * numSlots + numAdapters * (31.7 + 20.5);

        assertThat(kernels.nanos(batch(16, new BatchShape.Loras(numAdapters, 16, 0, 0))))
                .isCloseTo(expected, within(1e-9));
    }

    /**
     * Median ITL of vLLM 0.8.5 with adapters less that without, in ms: Llama-3.1-8B on an H100, prompts of 1 token, outputs
     * of 100 ({@code predictor_latency_overhead} of github.com/FerranAgulloLopez/GPULLMAdapterOptimization). Of {@code n}
     * adapters a batch of {@code b} drawn at random has {@code n (1 - (1 - 1 / n)^b)}: of 96 27 in 32, 47 in 64, 61 in 96;
     * of 32 20 in 32, 28 in 64.
     */
    @ParameterizedTest
    @CsvSource({
        "32, 100, 8, 1, 3.86",
        "32, 100, 8, 20, 11.86",
        "32, 100, 8, 27, 14.54",
        "32, 100, 16, 20, 11.37",
        "32, 100, 32, 1, 5.04",
        "32, 100, 32, 20, 15.71",
        "64, 100, 8, 28, 15.68",
        "64, 100, 8, 47, 23.63",
        "64, 100, 32, 47, 32.60",
        "96, 100, 8, 1, 7.77",
        "96, 100, 8, 61, 32.16",
        "220, 300, 8, 1, 18.36",
        "220, 300, 8, 32, 28.16",
        "220, 300, 8, 86, 45.82"
    })
    void kernels_takeWhatWasMeasured(int numTokens, int maxLoras, int rank, int numAdapters, double millis) {
        var kernels = new LoraKernels(AdapterSize.of(llama(), 1), rank, maxLoras, false, 5_600);
        var batch = batch(numTokens, new BatchShape.Loras(numAdapters, numTokens, 0, 0));

        assertThat(kernels.nanos(batch) / 1e6).isCloseTo(millis, withinPercentage(10));
    }

    /** Rank 8 has 2 x 8 x 2,621,440 = 41.9 MB: 44 ms + 21.0 ms at 2 GB/s, and 6.6 ms since 25 GB/s would take 1.7. */
    @Test
    void movement_isFixedPartsAndBytes() {
        var size = AdapterSize.of(llama(), 1);
        var kernels = new LoraKernels(size, 8, 1, false, 5_600);

        var small = LoraCost.of(kernels, size, new LoraCost.Speeds(8, 44e6, 2, 6.6e6, 25));
        var large = LoraCost.of(kernels, size, new LoraCost.Speeds(64, 44e6, 2, 6.6e6, 25));

        assertThat(small.loadNanos()).isEqualTo(44e6 + 41_943_040 / 2.0);
        assertThat(small.activationNanos()).isEqualTo(6.6e6);
        assertThat(large.activationNanos()).isEqualTo(8 * 41_943_040 / 25.0);
    }

    @Test
    void stepWithoutAdapters_takesNoLonger() {
        assertThat(LATENCY.stepNanos(batch(1, BatchShape.Loras.NONE))).isEqualTo(7_000);
    }

    @Test
    void adapters_stayWithABatchOfAGroup() {
        var loras = new BatchShape.Loras(1, 1, 0, 0);

        assertThat(batch(1, loras).inGroupOf(4, false).loras()).isEqualTo(loras);
    }

    private static BatchShape batch(int numTokens, BatchShape.Loras loras) {
        var batch = new BatchShape.Builder();
        for (int i = 0; i < numTokens; i++) {
            batch.add(1, 10, true);
        }
        batch.setLoras(loras);
        return batch.build();
    }

    private static LlmSpec llama() {
        return llm(
                32,
                4096,
                new Attention(32, 8, 128, QkNorm.NONE, false, 0, 0, null),
                new FeedForward(14_336, true, 32, 0, 0, 0, 0, false, false));
    }

    private static LlmSpec llm(int numLayers, int hiddenSize, Attention attention, FeedForward feedForward) {
        return LlmSpecBuilder.builder()
                .name("test")
                .numLayers(numLayers)
                .hiddenSize(hiddenSize)
                .vocabSize(1_000)
                .maxPositionEmbeddings(4_096)
                .attention(attention)
                .feedForward(feedForward)
                .weights(WeightFormat.BF16)
                .expertWeights(WeightFormat.BF16)
                .build();
    }
}
