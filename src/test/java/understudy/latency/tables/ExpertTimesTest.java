package understudy.latency.tables;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Path;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import understudy.latency.LayerTime;
import understudy.latency.LlmSpec;
import understudy.latency.LlmSpec.QkNorm;
import understudy.latency.LlmSpecBuilder;
import understudy.latency.Parallelism;
import understudy.latency.StepExecution;
import understudy.latency.WeightFormat;

/** Times of 1 of 4 experts of 64 x 32, most of them in MXFP4. */
final class ExpertTimesTest {
    private static final int AMPERE = 80;
    private static final int HOPPER = 90;
    private static final int BLACKWELL = 100;
    private static final String[] COLUMNS = {
        "hidden_size", "inter_size", "topk", "num_experts", "moe_tp_size", "moe_ep_size", "num_tokens"
    };
    private static final LlmSpec LLM = LlmSpecBuilder.builder()
            .name("llm")
            .numLayers(2)
            .hiddenSize(64)
            .vocabSize(100)
            .maxPositionEmbeddings(1024)
            .attention(new LlmSpec.Attention(2, 1, 32, QkNorm.NONE, false, 0, 0, null))
            .feedForward(new LlmSpec.FeedForward(128, true, 0, 4, 1, 32, 0, false, false))
            .weights(WeightFormat.BF16)
            .expertWeights(WeightFormat.MXFP4)
            .build();

    @TempDir
    private Path directory;

    private TableFolder folder;
    private TableChoice choice;

    @BeforeEach
    void setUp() {
        folder = new TableFolder(directory);
        // The model's own experts, with BF16 activations: 90 us for any number of tokens.
        experts("0.24.0", "w4a16_mxfp4", 32, 4, row -> 0.090);
    }

    /** Writes a table of one chosen expert of so many, for 2 and 20 tokens. */
    private void experts(
            String version, String dtype, double interSize, double numExperts, ToDoubleFunction<double[]> millis) {
        double[][] rows = {{64, interSize, 1, numExperts, 1, 1, 2}, {64, interSize, 1, numExperts, 1, 1, 20}};
        folder.table(
                "moe",
                version,
                "moe",
                Map.of("moe_dtype", dtype, "distribution", "power_law_1.2"),
                COLUMNS,
                rows,
                millis);
    }

    private ExpertTimes times(int smVersion, Mxfp4Activations activations) {
        return times(LLM, smVersion, activations);
    }

    private ExpertTimes times(LlmSpec llm, int smVersion, Mxfp4Activations activations) {
        return times(llm, smVersion, activations, MoeBackend.AUTO, Parallelism.ofTensors(1), "");
    }

    private ExpertTimes times(
            LlmSpec llm,
            int smVersion,
            Mxfp4Activations activations,
            MoeBackend backend,
            Parallelism parallelism,
            String version) {
        folder.setSmVersion(smVersion);
        var database = folder.database();
        choice = new TableChoice(database, TableFolder.GPU, Map.of("engine", version), StepExecution.VLLM);
        var placement = new Placement(llm, TableFolder.GPU_SPEC, parallelism, 2, activations, backend);
        var roofline = new LayerTime(llm, TableFolder.GPU_SPEC, parallelism);
        return ExpertTimes.of(choice, database.gpu(TableFolder.GPU), placement, roofline);
    }

    /** Writes a table of the model's experts in FP8 blocks, in parts or whole on two GPUs, for 100 and 2000 tokens. */
    private void fp8Block(String version, String kernel, int numSlices, int numRanks, double millis) {
        double[][] rows = {{64, 32, 1, 4, numSlices, numRanks, 100}, {64, 32, 1, 4, numSlices, numRanks, 2000}};
        folder.table(
                "moe",
                version,
                "moe",
                Map.of("moe_dtype", "fp8_block", "distribution", "power_law_1.2", "kernel_source", kernel),
                COLUMNS,
                rows,
                row -> millis);
    }

    private ExpertTimes fp8BlockTimes(int smVersion, MoeBackend backend, boolean areWhole, String version) {
        var parallelism = new Parallelism(2, 1, areWhole, Parallelism.All2AllBackend.ALLGATHER_REDUCESCATTER);
        var llm = LLM.withExpertWeights(WeightFormat.FP8_BLOCK);
        return times(llm, smVersion, Mxfp4Activations.AUTO, backend, parallelism, version);
    }

    private static void assertMicros(ExpertTimes times, double tokens, double micros) {
        assertThat(times.micros().applyAsDouble(tokens)).isCloseTo(micros, within(1e-9));
    }

    @Test
    void wholeExpertsOnHopper_takeCutlassKernels_ofTheNextVersionThatHasThem() {
        fp8Block("0.18.0", "vllm_fused_moe", 1, 2, 0.050);
        fp8Block("0.25.0", "vllm_fp8moe_flashinfer_cutlass_flashinferexperts", 1, 2, 0.020);

        assertMicros(fp8BlockTimes(HOPPER, MoeBackend.AUTO, true, "0.18.0"), 2000, 20);
        assertThat(choice.sources()).anyMatch(line -> line.contains("flashinfer_cutlass: vLLM 0.25.0"));
        assertThat(choice.warnings()).isEmpty();
        assertMicros(fp8BlockTimes(HOPPER, MoeBackend.AUTO, true, "0.14.0"), 2000, 50);
        assertMicros(fp8BlockTimes(HOPPER, MoeBackend.TRITON, true, "0.18.0"), 2000, 50);
    }

    /** No table has CUTLASS kernels of parts of experts, which take 1.4 times what Triton's do from 1,024 tokens on. */
    @Test
    void partsOfExpertsOnHopper_takeTritonsKernels_exceptFrom15To16() {
        fp8Block("0.14.0", "vllm_fused_moe", 2, 1, 0.050);
        fp8Block("0.25.0", "vllm_fp8moe_triton_tritonexperts", 2, 1, 0.040);

        assertMicros(fp8BlockTimes(HOPPER, MoeBackend.AUTO, false, "0.14.0"), 2000, 50);
        assertMicros(fp8BlockTimes(HOPPER, MoeBackend.AUTO, false, "0.16.0"), 2000, 70);
        assertMicros(fp8BlockTimes(HOPPER, MoeBackend.AUTO, false, "0.16.0"), 100, 50);
        assertThat(choice.sources()).anyMatch(line -> line.contains("x 1.4 from 1024 tokens on: empirical"));
        assertMicros(fp8BlockTimes(HOPPER, MoeBackend.AUTO, false, ""), 2000, 40);
        assertThat(choice.sources()).noneMatch(line -> line.contains("x 1.4"));
    }

    @Test
    void kernelsThatNoTableHas_areOthers_withAWarning() {
        fp8Block("0.19.0", "vllm_fused_moe", 1, 2, 0.050);

        assertMicros(fp8BlockTimes(BLACKWELL, MoeBackend.AUTO, true, ""), 2000, 50);
        assertThat(choice.warnings())
                .anyMatch(line -> line.contains("no times of experts in fp8_block by flashinfer_trtllm"));
        assertMicros(fp8BlockTimes(AMPERE, MoeBackend.AUTO, true, ""), 2000, 50);
        assertThat(choice.warnings()).isEmpty();
    }

    /**
     * Others are 8 experts of 64 x 40. As many tokens for each of 8 experts are twice as many as for each of 4; the
     * weights, padded to 256 x 256, are 4 of 8, half. The least time is 30 us, so 10 tokens take 30 + 0.5 (130 - 30) us,
     * and 1 token takes 30 us.
     */
    @Test
    void blackwell_hasMxfp8Activations_byOtherExpertsAtAsManyTokensEach() {
        experts("0.25.0", "w4a8_mxfp4_mxfp8", 40, 8, row -> row[6] == 2 ? 0.030 : 0.130);

        var times = times(BLACKWELL, Mxfp4Activations.AUTO);

        assertThat(times.micros().applyAsDouble(10)).isCloseTo(80, within(1e-9));
        assertThat(times.micros().applyAsDouble(1)).isCloseTo(30, within(1e-9));
        assertThat(times.maxTokens()).isEqualTo(10);
        assertThat(choice.sources()).anyMatch(line -> line.contains("by the times of 1 of 8 experts of 64 x 40"));
    }

    @Test
    void timesOfTheModelsOwnExperts_areTakenAsTheyAre() {
        experts("0.25.0", "w4a8_mxfp4_mxfp8", 32, 4, row -> row[6] == 2 ? 0.030 : 0.130);

        assertThat(times(BLACKWELL, Mxfp4Activations.AUTO).micros().applyAsDouble(20))
                .isCloseTo(130, within(1e-9));
    }

    @Test
    void otherGpus_andBf16OnBlackwell_haveBf16Activations() {
        experts("0.25.0", "w4a8_mxfp4_mxfp8", 40, 8, row -> 0.030);

        assertThat(times(AMPERE, Mxfp4Activations.AUTO).micros().applyAsDouble(10))
                .isEqualTo(90);
        assertThat(times(BLACKWELL, Mxfp4Activations.BFLOAT16).micros().applyAsDouble(10))
                .isEqualTo(90);
        assertThat(times(AMPERE, Mxfp4Activations.MXFP8).micros().applyAsDouble(10))
                .isNotEqualTo(90);
    }

    /**
     * Marlin's kernels of 8 and 16 experts take 40 and 60 us at least, so that those of 4 take 30. 10 tokens of 4 experts are
     * 20 of 8, whose 100 us beyond the least go by the weights, half as many: 30 + 0.5 x 100 us.
     */
    @Test
    void marlinsKernels_haveALeastTimeByTheNumberOfExperts() {
        double[][] rows = {
            {64, 40, 1, 8, 1, 1, 2}, {64, 40, 1, 8, 1, 1, 20}, {64, 400, 1, 16, 1, 1, 2}, {64, 400, 1, 16, 1, 1, 20}
        };
        folder.table(
                "moe",
                "0.25.0",
                "moe",
                Map.of("moe_dtype", "w4a16_mxfp4", "distribution", "power_law_1.2", "kernel_source", "vllm_marlin_moe"),
                COLUMNS,
                rows,
                row -> row[3] == 16 ? 0.060 : row[6] == 2 ? 0.040 : 0.140);

        var times = times(LLM.withExpertWeights(WeightFormat.MXFP4_MARLIN), AMPERE, Mxfp4Activations.AUTO);

        assertThat(times.micros().applyAsDouble(10)).isCloseTo(80, within(1e-9));
        assertThat(times.micros().applyAsDouble(1)).isCloseTo(30, within(1e-9));
    }

    /** Experts of 64 x 20 have 0.63 of the weights of the model's, too few to stand for them. */
    @Test
    void withoutAnythingAlike_bf16Activations_withAWarning() {
        experts("0.25.0", "w4a8_mxfp4_mxfp8", 20, 8, row -> 0.030);

        assertThat(times(BLACKWELL, Mxfp4Activations.AUTO).micros().applyAsDouble(10))
                .isEqualTo(90);
        assertThat(choice.warnings()).anyMatch(line -> line.contains("those with BF16 activations are taken"));
    }
}
