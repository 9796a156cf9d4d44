package understudy.latency.tables;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.TestData;
import understudy.latency.LayerTime;
import understudy.latency.LlmSpec;
import understudy.latency.LlmSpec.QkNorm;
import understudy.latency.LlmSpecBuilder;
import understudy.latency.Parallelism;
import understudy.latency.Parallelism.All2AllBackend;
import understudy.latency.WeightFormat;
import understudy.scenario.GpuFile;
import understudy.scenario.SpecFiles;

/** Experts by the files of GPUs against the tables of vLLM that they were fitted to. */
final class ExpertFitTest {
    private static final int MOST_SLICES = 8;
    private static final int MOST_RANKS = 32;

    /** Sizes of Nemotron's experts, which have one matrix up, not two; those of 0.14 were measured with two. */
    private static final Set<Integer> UNGATED = Set.of(1856, 5120);

    private static final Set<String> COLUMNS = Set.of(
            "moe_dtype",
            "kernel_source",
            "distribution",
            "hidden_size",
            "inter_size",
            "topk",
            "num_experts",
            "moe_tp_size",
            "moe_ep_size",
            "num_tokens");

    /**
     * Bounds of the median absolute error in percent, over all sizes and numbers of tokens: of one GPU or slices on up to
     * eight, of eight GPUs with whole experts, and of 32.
     */
    @ParameterizedTest
    @CsvSource({
        "h100-sxm,     BF16,         bfloat16,         '',        0.24.0, 7,  8,  12",
        "h100-sxm,     FP8,          fp8,              '',        0.19.0, 6,  6,  9",
        "h100-sxm,     FP8_BLOCK,    fp8_block,        '',        0.24.0, 5,  9,  14",
        "h100-sxm,     INT4,         int4_wo,          '',        0.24.0, 7,  12, 12",
        "h100-sxm,     MXFP4,        w4a16_mxfp4,      oaitriton, 0.24.0, 9,  9,  9",
        "h100-sxm,     MXFP4_MARLIN, w4a16_mxfp4,      marlin,    0.24.0, 7,  10, 10",
        "h200,         BF16,         bfloat16,         '',        0.24.0, 6,  9,  12",
        "h200,         FP8,          fp8,              '',        0.19.0, 6,  6,  9",
        "h200,         FP8_BLOCK,    fp8_block,        '',        0.24.0, 5,  9,  14",
        "h200,         INT4,         int4_wo,          '',        0.24.0, 8,  9,  10",
        "h200,         MXFP4,        w4a16_mxfp4,      oaitriton, 0.24.0, 9,  8,  9",
        "h200,         MXFP4_MARLIN, w4a16_mxfp4,      marlin,    0.24.0, 7,  12, 10",
        "b200,         BF16,         bfloat16,         '',        0.24.0, 12, 11, 14",
        "b200,         FP8,          fp8,              '',        0.24.0, 11, 8,  9",
        "b200,         FP8_BLOCK,    fp8_block,        '',        0.24.0, 10, 8,  13",
        "b200,         NVFP4,        nvfp4,            '',        0.24.0, 11, 10, 14",
        "b200,         INT4,         int4_wo,          '',        0.24.0, 8,  11, 11",
        "b200,         MXFP4,        w4a8_mxfp4_mxfp8, '',        0.24.0, 13, 6,  13",
        "b200,         MXFP4_MARLIN, w4a16_mxfp4,      marlin,    0.24.0, 8,  6,  6",
        "b300,         BF16,         bfloat16,         '',        0.24.0, 12, 11, 14",
        "b300,         FP8,          fp8,              '',        0.24.0, 11, 10, 13",
        "b300,         FP8_BLOCK,    fp8_block,        '',        0.24.0, 10, 8,  13",
        "b300,         NVFP4,        nvfp4,            '',        0.24.0, 11, 10, 16",
        "b300,         INT4,         int4_wo,          '',        0.24.0, 8,  12, 15",
        "b300,         MXFP4,        w4a8_mxfp4_mxfp8, '',        0.24.0, 13, 6,  13",
        "b300,         MXFP4_MARLIN, w4a16_mxfp4,      marlin,    0.24.0, 8,  6,  6",
        "a100-80g-sxm, BF16,         bfloat16,         '',        0.14.0, 15, 35, 37"
    })
    void experts_takeWhatKernelsTake(
            String name,
            WeightFormat format,
            String dtype,
            String kernel,
            String version,
            double percent,
            double percentOfEight,
            double percentOfMany) {
        var gpu = GpuFile.read(SpecFiles.GPUS.find(name).orElseThrow());
        var rows = rows(gpu, version).where("moe_dtype", dtype).containing("kernel_source", List.of(kernel));

        assertThat(medianError(gpu, format, rows, 1)).isLessThan(percent);
        assertThat(medianError(gpu, format, rows, 8)).isLessThan(percentOfEight);
        assertThat(medianError(gpu, format, rows, MOST_RANKS)).isLessThan(percentOfMany);
    }

    /**
     * Eight large experts, Mixtral's, whose weights are read at the full rate: mean error in percent of steps of up to 512
     * tokens, over one to eight GPUs.
     */
    @ParameterizedTest
    @CsvSource({"h100-sxm, -5, 5", "h200, 0, 8"})
    void largeExperts_areNotReadAsSmallOnesAre(String name, double atLeast, double atMost) {
        var gpu = GpuFile.read(SpecFiles.GPUS.find(name).orElseThrow());
        List<Double> errors = new ArrayList<>();
        var rows = rows(gpu, "0.24.0")
                .where("moe_dtype", "bfloat16")
                .where("num_experts", 8)
                .where("inter_size", 14336)
                .where("moe_ep_size", 1);
        forEach(gpu, WeightFormat.BF16, rows, 1, (micros, row) -> {
            if (row.number("num_tokens") <= 512) {
                errors.add(100 * (micros / row.micros() - 1));
            }
        });

        assertThat(errors).hasSizeGreaterThan(50);
        assertThat(errors.stream().mapToDouble(error -> error).average().orElseThrow())
                .isBetween(atLeast, atMost);
    }

    private interface Visitor {
        void visit(double micros, Rows.Row row);
    }

    private static double medianError(GpuFile gpu, WeightFormat format, Rows rows, int numRanks) {
        var errors = new Errors();
        forEach(gpu, format, rows.where("moe_ep_size", numRanks), numRanks, (micros, row) -> {
            errors.add(micros, row.micros());
        });
        return errors.median();
    }

    /** Computes each row by the formulas. */
    private static void forEach(GpuFile gpu, WeightFormat format, Rows rows, int numRanks, Visitor visitor) {
        var layers = new HashMap<LlmSpec, Map<Integer, LayerTime>>();
        rows.forEach(row -> {
            int numSlices = (int) row.number("moe_tp_size");
            if (numSlices <= MOST_SLICES) {
                var llm = layer(format, row);
                var parallelism =
                        new Parallelism(numSlices, numRanks, numRanks > 1, All2AllBackend.ALLGATHER_REDUCESCATTER);
                var layer = layers.computeIfAbsent(llm, key -> new HashMap<>())
                        .computeIfAbsent(numSlices, key -> new LayerTime(llm, gpu.spec(), parallelism));
                visitor.visit(layer.expertMicros(row.number("num_tokens")), row);
            }
        });
    }

    private static Rows rows(GpuFile gpu, String version) {
        var files =
                new KernelDatabase(TestData.require("aiconfigurator")).files(gpu.kernelTables(), "vllm", "moe", "moe");
        return Rows.read(files.get(version), COLUMNS).where("distribution", Ingredients.DISTRIBUTION);
    }

    /** Returns a model of one layer of experts. */
    private static LlmSpec layer(WeightFormat format, Rows.Row row) {
        int expertSize = (int) row.number("inter_size");
        return LlmSpecBuilder.builder()
                .name("layer")
                .numLayers(1)
                .hiddenSize((int) row.number("hidden_size"))
                .vocabSize(1)
                .maxPositionEmbeddings(1)
                .attention(new LlmSpec.Attention(1, 1, 128, QkNorm.NONE, false, 0, 0, null))
                .feedForward(new LlmSpec.FeedForward(
                        0,
                        !UNGATED.contains(expertSize),
                        0,
                        (int) row.number("num_experts"),
                        (int) row.number("topk"),
                        expertSize,
                        0,
                        false,
                        false))
                .weights(WeightFormat.BF16)
                .expertWeights(format)
                .build();
    }
}
