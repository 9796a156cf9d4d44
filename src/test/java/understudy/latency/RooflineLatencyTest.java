package understudy.latency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static understudy.latency.RooflineFixture.GPU;
import static understudy.latency.RooflineFixture.NO_HOST;
import static understudy.latency.RooflineFixture.chunk;
import static understudy.latency.RooflineFixture.decodes;
import static understudy.latency.RooflineFixture.dense;
import static understudy.latency.RooflineFixture.experts;
import static understudy.latency.RooflineFixture.gpu;
import static understudy.latency.RooflineFixture.share;

import org.junit.jupiter.api.Test;
import understudy.latency.LlmSpec.Attention;
import understudy.latency.LlmSpec.QkNorm;

final class RooflineLatencyTest {
    private static final double EXACT = 1e-6;

    @Test
    void linearPart_isFourProductsAndTheElementwiseKernels() {
        double micros = part("linear", dense(), GPU, 1, decodes(1, 0));

        // Weights in bytes: qkv (2 + 2) * 5 * 10 * 2 = 400, out 10 * 10 * 2 = 200, up and gate 40 * 10 * 2 = 800, down
        // 10 * 20 * 2 = 400. Activations 2 (n + k): 60, 40, 100, 60. At 1000 bytes per us: 0.46 + 0.24 + 0.9 + 0.46.
        double memory = 0.46 + 0.24 + 0.9 + 0.46;
        // Operations 2 n k: 400, 200, 800, 400 at 10^6 per us, which the root makes 4e-7 or less of the memory's time.
        double compute = sq(4e-4) / 0.92 + sq(2e-4) / 0.48 + sq(8e-4) / 1.8 + sq(4e-4) / 0.92;
        // Two norms 8 * 10 bytes each, rotation 4 * 4 * 5, activation 6 * 20.
        double elementwise = (160 + 80 + 120) / 1e3;
        assertThat(micros).isCloseTo(memory + compute + elementwise, within(EXACT));
    }

    @Test
    void largeBatch_isBoundByComputeAndMemoryTogether() {
        var product = Gemm.of(GPU, WeightFormat.BF16, 1000, 1000);

        // 2 * 10^6 operations per token: 2 us; weights 2 * 10^6 bytes: 2000 us; activations 4 us per token.
        assertThat(product.micros(1000)).isCloseTo(Math.sqrt(sq(2000) + sq(2000 + 4000)), within(EXACT));
    }

    @Test
    void fp8_readsHalfTheWeightsAndComputesAtItsOwnRate() {
        // 2 TFLOP/s at half efficiency: 10^6 operations per us as in BF16; a GPU without FP8 falls back to BF16.
        assertThat(Gemm.of(GPU, WeightFormat.FP8, 1000, 1000).micros(0)).isCloseTo(1000, within(EXACT));
        assertThat(Gemm.of(GPU, WeightFormat.FP8, 1000, 1000).computeMicros()).isCloseTo(2, within(EXACT));
        assertThat(Gemm.of(GPU, WeightFormat.FP32, 1000, 1000).computeMicros()).isCloseTo(4, within(EXACT));
    }

    /** Cores multiply 10^5 numbers per microsecond where tensor cores have no part: 2 x 10^6 operations of a token take 20. */
    @Test
    void fp32_hasARateOfItsOwn() {
        var gpu = GPU.with().fp32Tflops(0.1).build();

        assertThat(Gemm.of(gpu, WeightFormat.FP32, 1000, 1000).computeMicros()).isCloseTo(20, within(EXACT));
    }

    /**
     * The router has 8 x 10 weights, each of two bytes more than in BF16, at 1000 bytes per microsecond. Its product alone says
     * how much longer 1000 tokens take at 10^5 operations per microsecond; each has 10 elements that are read in two
     * bytes and written in four.
     */
    @Test
    void routerInFp32_isReadInFourBytes_andItsInputsAreConverted() {
        var plain = RooflineFixture.experts();
        var exact = plain.withFeedForward(new LlmSpec.FeedForward(0, true, 0, 8, 2, 4, 0, false, true));
        var gpu = GPU.with().fp32Tflops(0.1).build();
        var one = Parallelism.ofTensors(1);

        double none = new LayerTime(exact, gpu, one).micros(0, 0) - new LayerTime(plain, gpu, one).micros(0, 0);
        double router = Gemm.of(gpu, WeightFormat.FP32, 8, 10).micros(1000)
                - Gemm.of(gpu, WeightFormat.BF16, 8, 10).micros(1000);
        double many =
                new LayerTime(exact, gpu, one).micros(1000, 1000) - new LayerTime(plain, gpu, one).micros(1000, 1000);

        assertThat(none).isCloseTo(80 * 2 / 1e3, within(EXACT));
        assertThat(many).isCloseTo(router + 1000 * 10 * 6 / 1e3, within(1e-9));
        assertThat(exact.weightBytesPerRank(one) - plain.weightBytesPerRank(one))
                .isEqualTo(80 * 2);
    }

    /** Beside the two exchanges of 20 bytes of each token there is one of two sums in 4 bytes, at 10^3 bytes per microsecond. */
    @Test
    void normOverAllHeads_isExchanged() {
        var llm = RooflineFixture.dense(
                new LlmSpec.Attention(2, 2, 5, LlmSpec.QkNorm.PER_LAYER, false, 0, 0, null), WeightFormat.BF16);
        var perHead = RooflineFixture.dense(
                new LlmSpec.Attention(2, 2, 5, LlmSpec.QkNorm.PER_HEAD, false, 0, 0, null), WeightFormat.BF16);

        assertThat(part("all-reduce", llm, GPU, 2, decodes(5, 0)) - part("all-reduce", perHead, GPU, 2, decodes(5, 0)))
                .isCloseTo(5 * 8 / 1e3, within(EXACT));
        assertThat(part("all-reduce", llm, GPU, 1, decodes(5, 0))).isZero();
    }

    @Test
    void slowdown_isThatOfTheRows() {
        var byRows = new KernelTable.Builder();
        byRows.add(1, 16);
        byRows.add(1.2, 17);
        byRows.add(1, 64);
        var product = new Gemm(1, 0, 10, 0, byRows.build());

        // 1 + 10 us, and 1.2 times that from 17 rows on, down to 1 at 64: 1.2 - 0.2 * 20 / 47 at 37.
        assertThat(product.micros(16)).isCloseTo(11, within(EXACT));
        assertThat(product.micros(17)).isCloseTo(13.2, within(EXACT));
        assertThat(product.micros(37)).isCloseTo(11 * (1.2 - 4 / 47.0), within(EXACT));
    }

    @Test
    void experts_areReadIfAnyTokenNeedsThem() {
        double one = part("linear", experts(), GPU, 1, decodes(1, 0))
                - part("linear", withoutExperts(), GPU, 1, decodes(1, 0));

        // One token reads 2 of 8 experts: 2 * (8 * 10 + 10 * 4) * 2 bytes = 480, activations 2 * 2 * (18 + 14) = 128.
        // Router
        // 8 * 10 * 2 = 160 and 36. Activation 6 * 2 * 4 = 48, sum 2 * 3 * 10 = 60. Compute vanishes in the root.
        // The layer without experts has products of width 0, which move 2 * 10 bytes each all the same.
        assertThat(one).isCloseTo((480 + 128 + 160 + 36 + 48 + 60 - 40) / 1e3, within(1e-5));

        // m tokens read 8 (1 - (6/8)^m) experts: with 2 tokens 3.5.
        var up = Gemm.ofExperts(GPU, GPU.experts().kernels(WeightFormat.BF16, false), WeightFormat.BF16, 2, 8, 10);
        double both = part("linear", experts(), GPU, 1, decodes(2, 0))
                - part("linear", withoutExperts(), GPU, 1, decodes(2, 0));
        assertThat(up.micros(2, 2, 3.5)).isCloseTo((3.5 * 160 + 2 * 72) / 1e3, within(1e-5));
        assertThat(both).isCloseTo((3.5 * 240 + 2 * 128 + 160 + 2 * 36 + 2 * 108 - 2 * 40) / 1e3, within(1e-5));
    }

    /**
     * 8 x 10 weights of 0.53 bytes and half of 80 bytes at half of 1 KB/us, and 2 x 2 x 80 operations for each token at a
     * quarter of 10^6 per us; in and out go 2 x 2 x 18 bytes, at the same half.
     */
    @Test
    void products_ofExpertsGoByTheirKernels_andSmallOnesAreReadSlower() {
        var kernels = new GpuSpec.ExpertKernels(0.25, 0.5, 1, 0, 7, 0);
        var experts = GPU.experts();
        var gpu = GPU.withExperts(
                new GpuSpec.Experts(experts.kernels(), experts.expertParallelKernels(), 80, experts.skew()));

        var product = Gemm.ofExperts(gpu, kernels, WeightFormat.INT4, 2, 8, 10);

        assertThat(product.weightMicros()).isCloseTo(0.1648, within(EXACT));
        assertThat(product.computeMicros()).isCloseTo(1.28e-3, within(EXACT));
        assertThat(product.activationMicros()).isCloseTo(0.144, within(EXACT));
        assertThat(product.overheadMicros()).isZero();
    }

    /** 100 tokens have 2 of 8 experts each, and all are in use: 10 rows more for each of 8 are those of 40 tokens. */
    @Test
    void idleRows_areComputed_butNoMoreThanTokens() {
        var load = new ExpertLoad(experts(), Parallelism.ofTensors(1), 0);

        assertThat(load.computedTokens(100, 8, 10)).isCloseTo(140, within(EXACT));
        assertThat(load.computedTokens(20, 8, 10)).isCloseTo(40, within(EXACT));
        assertThat(load.computedTokens(20, 8, 0)).isEqualTo(20);
    }

    /**
     * One token needs 2 of 8 experts whatever the law. 64 tokens of which each needs 1 of 32 need 1 - (31/32)^64 of them if
     * all are equally likely, and fewer if they are not; a million need all.
     */
    @Test
    void skew_leavesExpertsUnread() {
        assertThat(ExpertLoad.shareInUse(1, 0.25, 1.2)).isCloseTo(0.25, within(EXACT));
        assertThat(ExpertLoad.shareInUse(64, 0.03125, 1.2)).isLessThan(0.9 * (1 - StrictMath.pow(1 - 0.03125, 64)));
        assertThat(ExpertLoad.shareInUse(1_000_000, 0.25, 1.2)).isCloseTo(1, within(1e-3));
    }

    /** 4 TFLOP/s at half efficiency are 2 x 10^6 operations per us, and without FP4 it is BF16's 10^6. */
    @Test
    void nvfp4_computesAtItsOwnRate() {
        var product = Gemm.of(GPU.withFp4Tflops(4), WeightFormat.NVFP4, 1000, 1000);

        assertThat(product.computeMicros()).isCloseTo(1, within(EXACT));
        assertThat(product.micros(0)).isCloseTo(562.5, within(EXACT));
        assertThat(Gemm.of(GPU, WeightFormat.NVFP4, 1000, 1000).computeMicros()).isCloseTo(2, within(EXACT));
    }

    @Test
    void decodeAttention_readsTheCache() {
        // 3 * 100 tokens, 2 * 5 elements of 2 bytes: 6000 bytes; half of it from an FP8 cache, at half the rate.
        assertThat(part("attention", dense(), GPU, 1, decodes(3, 99))).isCloseTo(6, within(EXACT));
        assertThat(share(
                        "attention",
                        new RooflineLatency(dense(), GPU, Parallelism.ofTensors(1), 1, NO_HOST),
                        decodes(3, 99)))
                .isCloseTo(6, within(EXACT));
    }

    /** 20 bytes per KV head and decode at 10^3 per us, and 2 us, of which two multiprocessors take up eight. */
    @Test
    void decodedKvHeads_takeAFixedTimeEach_upToFourPerMultiprocessor() {
        var fixed = gpu(0, 0, 2, 2);
        var fourHeads = dense(new Attention(4, 4, 5, QkNorm.NONE, false, 0, 0, null), WeightFormat.BF16);

        assertThat(part("attention", dense(), fixed, 1, decodes(3, 0))).isCloseTo(3 * (2 + 0.02), within(EXACT));
        assertThat(part("attention", dense(), fixed, 1, decodes(10, 0))).isCloseTo(8 * 2 + 10 * 0.02, within(EXACT));
        assertThat(part("attention", fourHeads, fixed, 2, decodes(3, 0))).isCloseTo(3 * 2 * (2 + 0.02), within(EXACT));
        // Without multiprocessors there is no such bound.
        assertThat(part("attention", dense(), gpu(0, 0, 0, 2), 1, decodes(10, 0)))
                .isCloseTo(10 * (2 + 0.02), within(EXACT));
    }

    /** 3 us a kernel, and 6 us with an FP8 cache, which reads 10 bytes at half of 10^3 per us. */
    @Test
    void attentionOfAnFp8Cache_hasAFixedTimeOfItsOwn() {
        assertThat(part("attention", dense(), gpu(3, 0), 1, decodes(1, 0))).isCloseTo(3 + 0.02, within(EXACT));
        assertThat(share(
                        "attention",
                        new RooflineLatency(dense(), gpu(3, 0), Parallelism.ofTensors(1), 1, NO_HOST),
                        decodes(1, 0)))
                .isCloseTo(6 + 0.02, within(EXACT));
    }

    @Test
    void prefillAttention_computesPairs() {
        // 10 tokens on 20: 10 * 20 + 10 * (10 + 128) / 2 = 890 pairs of 4 * 2 * 5 operations at 10^6 per us.
        assertThat(part("attention", dense(), GPU, 1, chunk(10, 20))).isCloseTo(0.0356, within(EXACT));
        // The longest sequence bounds it from below: 30 tokens of 2 us.
        assertThat(part("attention", dense(), gpu(0, 2), 1, chunk(10, 20))).isCloseTo(60, within(EXACT));
    }

    @Test
    void decodesBesidePrefill_readSlower() {
        var both = new BatchShape.Builder();
        both.add(10, 20, true);
        both.add(1, 99, true);

        // 100 tokens of 20 bytes take 2 us, times 1.5 * 2 heads / 1 KV head.
        assertThat(part("attention", dense(), GPU, 1, both.build())).isCloseTo(0.0356 + 6, within(EXACT));
        for (int i = 1; i < 96; i++) {
            both.add(1, 99, true);
        }

        // 96 of them lie half way between 64 and 128, where that is 1.5 times as much.
        assertThat(part("attention", dense(), GPU, 1, both.build())).isCloseTo(0.0356 + 96 * 6 * 1.25, within(EXACT));
    }

    @Test
    void slidingWindow_boundsBothKindsOfAttention() {
        var windowed = dense(new Attention(2, 1, 5, QkNorm.NONE, false, 16, 1, null), WeightFormat.BF16);

        // 3 * 16 tokens of 20 bytes; 10 tokens on 16: 10 * 16 + 690 pairs.
        assertThat(part("attention", windowed, GPU, 1, decodes(3, 99))).isCloseTo(0.96, within(EXACT));
        assertThat(part("attention", windowed, GPU, 1, chunk(10, 20))).isCloseTo(0.034, within(EXACT));
        // 1000 tokens: none sees more than the window, rounded up by a tile: 1000 * (16 + 128) pairs.
        assertThat(part("attention", windowed, GPU, 1, chunk(1000, 0))).isCloseTo(5.76, within(EXACT));
    }

    @Test
    void tensorParallelism_sharesTheWorkAndExchanges() {
        var quiet = gpu(3, 0);

        // 2 ranks: 2 * (2 - 1) / 2 of 2 * 10 bytes per token, twice per layer, and twice 3 us.
        assertThat(part("all-reduce", dense(), quiet, 2, decodes(5, 0))).isCloseTo(2 * (3 + 5 * 0.02), within(EXACT));
        assertThat(part("all-reduce", dense(), quiet, 1, decodes(5, 0))).isZero();
        // One KV head cannot be split: each rank reads the whole of it.
        assertThat(part("attention", dense(), GPU, 2, decodes(3, 99))).isCloseTo(6, within(EXACT));
    }

    @Test
    void head_countsOnlySequencesThatSample() {
        var none = new BatchShape.Builder();
        none.add(50, 0, false);

        // 2 * 4 * 10 bytes per token; head 100 * 10 * 2 bytes; then 220 bytes of activations and 12 * 100 per sample.
        assertThat(part("head", dense(), GPU, 1, none.build())).isCloseTo(4 + 2, within(EXACT));
        assertThat(part("head", dense(), GPU, 1, decodes(1, 0))).isCloseTo(0.08 + 2.22 + 1.2, within(1e-5));
    }

    @Test
    void host_paysPerStepAndSequence() {
        var model = new RooflineLatency(dense(), GPU, Parallelism.ofTensors(1), 2, new HostOverhead(1000, 10));

        assertThat(share("host", model, decodes(7, 5))).isCloseTo(1070, within(EXACT));
    }

    @Test
    void parts_addUpToTheStep() {
        var model =
                new RooflineLatency(experts(), gpu(3, 0.01), Parallelism.ofTensors(2), 2, new HostOverhead(1000, 10));
        var batch = new BatchShape.Builder();
        batch.add(100, 20, true);
        batch.add(1, 500, true);

        double sum =
                model.explain(batch.build()).stream().mapToDouble(Share::nanos).sum();

        assertThat((double) model.stepNanos(batch.build())).isCloseTo(sum, within(0.51));
    }

    @Test
    void contexts_areCappedExactlyAtPowersOfTwo() {
        var builder = new BatchShape.Builder();
        for (int context : new int[] {0, 99, 126, 127, 128, 5000}) {
            builder.add(1, context, true);
        }

        // 1 + 100 + 127 + 128 + 128 + 128.
        assertThat(builder.build().decodeKvTokensWithin(128)).isEqualTo(612);
        assertThat(builder.build().decodeKvTokensWithin(1 << 20)).isEqualTo(1 + 100 + 127 + 128 + 129 + 5001);
    }

    private static LlmSpec withoutExperts() {
        var none = new LlmSpec.FeedForward(0, true, 1, 0, 0, 0, 0, false, false);
        var attention = experts().attention();
        return LlmSpecBuilder.builder()
                .name("none")
                .numLayers(1)
                .hiddenSize(10)
                .vocabSize(100)
                .maxPositionEmbeddings(1000)
                .attention(attention)
                .feedForward(none)
                .weights(WeightFormat.BF16)
                .expertWeights(WeightFormat.BF16)
                .build();
    }

    private static double part(String part, LlmSpec llm, GpuSpec gpu, int tensorParallelSize, BatchShape batch) {
        return RooflineFixture.part(part, llm, gpu, Parallelism.ofTensors(tensorParallelSize), batch);
    }

    private static double sq(double x) {
        return x * x;
    }
}
