package understudy.latency.tables;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.TestData;
import understudy.latency.AttentionTime;
import understudy.latency.BatchShape;
import understudy.latency.Gemm;
import understudy.latency.GpuSpec;
import understudy.latency.LlmSpec;
import understudy.latency.LlmSpec.LatentAttention;
import understudy.latency.LlmSpec.QkNorm;
import understudy.latency.LlmSpecBuilder;
import understudy.latency.WeightFormat;
import understudy.scenario.GpuFile;
import understudy.scenario.SpecFiles;

/** Latent attention by the files of GPUs against vLLM's whole modules of it, to which it was fitted. */
final class LatentAttentionFitTest {
    private static final LatentAttention DIMS = new LatentAttention(1536, 512, 64, 128, 128, null);
    private static final int HIDDEN_SIZE = 7168;
    private static final GpuData H200 = new GpuData(3.84e6, 989e6, 1978e6, 0, 90);
    private static final double LEAST_MICROS = 15;
    private static final int[] HEADS = {8, 16, 32, 64, 128};
    private static final Set<String> COLUMNS =
            Set.of("batch_size", "step", "isl", "num_heads", "kv_cache_dtype", "gemm_type", "mla_dtype");

    /** A row by its number of sequences and their tokens. */
    private record Point(int numSequences, int tokens) {}

    /**
     * Bounds of the median absolute error in percent of what 4,096 to 131,072 tokens take beyond 1,024, if it is 15 us or
     * more, so that projections and norms, which not all tables have as an engine runs them, do not count. Blackwell's
     * kernel reads slower for 32 heads than for fewer or more.
     */
    @ParameterizedTest
    @CsvSource({
        "h200, bfloat16, 0, 2", "h200, fp8, 0, 2",
        "h100-sxm, bfloat16, 0, 2", "h100-sxm, fp8, 0, 4",
        "b200, bfloat16, 32, 6", "b200, fp8, 32, 10",
        "b300, bfloat16, 32, 4", "b300, fp8, 32, 11"
    })
    void contextsOfDecodes_takeWhatModulesTake(String name, String kvDtype, int slowHeads, double percent) {
        var gpu = GpuFile.read(SpecFiles.GPUS.find(name).orElseThrow());
        var errors = new Errors();
        for (int heads : HEADS) {
            var time = time(gpu.spec(), heads, kvDtype);
            var modules = modules(gpu.kernelTables(), "mla_generation_module", "step", heads, kvDtype);
            modules.forEach((point, micros) -> {
                var few = new Point(point.numSequences, 1024);
                boolean isWanted = heads != slowHeads && point.numSequences <= 512 && point.tokens >= 4096;
                if (isWanted && micros - modules.get(few) >= LEAST_MICROS) {
                    double formula = time.micros(decodes(point)) - time.micros(decodes(few));
                    errors.add(formula, micros - modules.get(few));
                }
            });
        }

        assertThat(errors.median()).isLessThan(percent);
    }

    /** The same of what 2n tokens take beyond twice n, less what is fixed: pairs alone. */
    @ParameterizedTest
    @CsvSource({
        "h200, bfloat16, 6", "h200, fp8, 5",
        "h100-sxm, bfloat16, 8", "h100-sxm, fp8, 7",
        "b200, bfloat16, 9", "b200, fp8, 10",
        "b300, bfloat16, 8", "b300, fp8, 7"
    })
    void pairsOfPrompts_takeWhatModulesTake(String name, String kvDtype, double percent) {
        var gpu = GpuFile.read(SpecFiles.GPUS.find(name).orElseThrow());
        var errors = new Errors();
        for (int heads : HEADS) {
            var time = time(gpu.spec(), heads, kvDtype);
            var modules = modules(gpu.kernelTables(), "mla_context_module", "isl", heads, kvDtype);
            modules.forEach((point, micros) -> {
                var half = new Point(point.numSequences, point.tokens / 2);
                var fixed = new Point(1, 16);
                if (point.tokens >= 8192 && modules.containsKey(half)) {
                    double formula =
                            time.micros(prompts(point)) - 2 * time.micros(prompts(half)) + time.micros(prompts(fixed));
                    errors.add(formula, micros - 2 * modules.get(half) + modules.get(fixed));
                }
            });
        }

        assertThat(errors.median()).isLessThan(percent);
    }

    /** The whole module where norms are those of an engine: its three other projections, attention, and three kernels more. */
    @ParameterizedTest
    @CsvSource({"b200, bfloat16, 8, 5", "b200, fp8, 10, 5"})
    void modules_takeWhatTheyTake(String name, String kvDtype, double decodePercent, double promptPercent) {
        var gpu = GpuFile.read(SpecFiles.GPUS.find(name).orElseThrow());
        var decodeErrors = new Errors();
        var promptErrors = new Errors();
        for (int heads : HEADS) {
            var time = time(gpu.spec(), heads, kvDtype);
            modules(gpu.kernelTables(), "mla_generation_module", "step", heads, kvDtype)
                    .forEach((point, micros) -> {
                        if (heads != 32 && point.numSequences <= 512 && point.tokens >= 256) {
                            double projections = projections(gpu.spec(), heads, point.numSequences);
                            decodeErrors.add(projections + time.micros(decodes(point)), micros);
                        }
                    });
            modules(gpu.kernelTables(), "mla_context_module", "isl", heads, kvDtype)
                    .forEach((point, micros) -> {
                        if (point.numSequences == 1 && point.tokens >= 512) {
                            double projections = projections(gpu.spec(), heads, point.tokens);
                            promptErrors.add(projections + time.micros(prompts(point)), micros);
                        }
                    });
        }

        assertThat(decodeErrors.median()).isLessThan(decodePercent);
        assertThat(promptErrors.median()).isLessThan(promptPercent);
    }

    /**
     * What H200's modules of decodes of two tokens take beyond their projections, batched products, attention by SGLang's
     * kernel, and four element-wise kernels, in us: a median, as rotations by single operations go by heads, too.
     */
    @Test
    void surplusOfModules_isThatOfUnfusedNorms() {
        List<Double> differences = new ArrayList<>();
        var database = new KernelDatabase(TestData.require("aiconfigurator"));
        var gemms = GemmTable.read(
                database.files("h200_sxm", "vllm", "gemm", "gemm").get("0.24.0"), "bfloat16", H200);
        var kernels =
                database.files("h200_sxm", "sglang", "mla", "generation_mla").get("0.5.9");
        var halves = database.files("h200_sxm", "vllm", "mla_bmm", "mla_bmm").get("0.24.0");
        for (int heads : new int[] {8, 16, 32}) {
            var attention = AttentionTable.latentDecodes(kernels, heads, "bfloat16");
            var ways = StepKernels.halves(halves, heads);
            modules("h200_sxm", "mla_generation_module", "step", heads, "bfloat16")
                    .forEach((point, micros) -> {
                        int n = point.numSequences;
                        if (point.tokens == 2 && n <= 256) {
                            double sum = gemms.layer(2112, HIDDEN_SIZE).applyAsDouble(n)
                                    + gemms.layer(heads * 192, 1536).applyAsDouble(n)
                                    + gemms.layer(HIDDEN_SIZE, heads * 128).applyAsDouble(n)
                                    + ways.applyAsDouble(n)
                                    + attention.micros(n, 2)
                                    + 4 * Ingredients.ELEMENTWISE_MICROS;
                            differences.add(Math.abs(micros - sum - UnfusedNorms.micros(n)));
                        }
                    });
        }

        assertThat(Errors.median(differences)).isLessThan(3);
    }

    private static double projections(GpuSpec gpu, int heads, int tokens) {
        return Gemm.of(gpu, WeightFormat.BF16, 1536 + 576, HIDDEN_SIZE).micros(tokens)
                + Gemm.of(gpu, WeightFormat.BF16, heads * 192, 1536).micros(tokens)
                + Gemm.of(gpu, WeightFormat.BF16, HIDDEN_SIZE, heads * 128).micros(tokens)
                + 3 * gpu.elementwise().overheadMicros();
    }

    private static Map<Point, Double> modules(String gpu, String table, String length, int heads, String kvDtype) {
        var files = new KernelDatabase(TestData.require("aiconfigurator")).files(gpu, "vllm", "mla", table);
        Map<Point, Double> micros = new HashMap<>();
        Rows.read(files.get("0.24.0"), COLUMNS)
                .where("num_heads", heads)
                .where("kv_cache_dtype", kvDtype)
                .where("gemm_type", "bfloat16")
                .where("mla_dtype", "bfloat16")
                .forEach(row ->
                        micros.put(new Point((int) row.number("batch_size"), (int) row.number(length)), row.micros()));
        return micros;
    }

    private static AttentionTime time(GpuSpec gpu, int heads, String kvDtype) {
        var llm = LlmSpecBuilder.builder()
                .name("layer")
                .numLayers(1)
                .hiddenSize(HIDDEN_SIZE)
                .vocabSize(1)
                .maxPositionEmbeddings(1)
                .attention(new LlmSpec.Attention(heads, heads, 192, QkNorm.NONE, false, 0, 0, DIMS))
                .feedForward(new LlmSpec.FeedForward(1, true, 1, 0, 0, 0, 0, false, false))
                .weights(WeightFormat.BF16)
                .expertWeights(WeightFormat.BF16)
                .build();
        return new AttentionTime(llm, gpu, 1, kvDtype.equals("fp8") ? 1 : 2);
    }

    private static BatchShape decodes(Point point) {
        var batch = new BatchShape.Builder();
        for (int i = 0; i < point.numSequences; i++) {
            batch.add(1, point.tokens - 1, true);
        }
        return batch.build();
    }

    private static BatchShape prompts(Point point) {
        var batch = new BatchShape.Builder();
        for (int i = 0; i < point.numSequences; i++) {
            batch.add(point.tokens, 0, true);
        }
        return batch.build();
    }
}
