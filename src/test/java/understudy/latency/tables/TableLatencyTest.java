package understudy.latency.tables;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.latency.BatchShape;
import understudy.latency.CudaGraphs;
import understudy.latency.GpuSpec;
import understudy.latency.HostOverhead;
import understudy.latency.LlmSpec;
import understudy.latency.LlmSpec.QkNorm;
import understudy.latency.LlmSpecBuilder;
import understudy.latency.Parallelism;
import understudy.latency.StepExecution;
import understudy.latency.WeightFormat;

/** Step times from tables made by hand. */
final class TableLatencyTest {
    /** Two layers, 64 wide: 2 heads of 32 on 1 KV head, width 128, 100 words. */
    private static final LlmSpec LLM = LlmSpecBuilder.builder()
            .name("llm")
            .numLayers(2)
            .hiddenSize(64)
            .vocabSize(100)
            .maxPositionEmbeddings(1024)
            .attention(new LlmSpec.Attention(2, 1, 32, QkNorm.NONE, false, 0, 0, null))
            .feedForward(new LlmSpec.FeedForward(128, true, 2, 0, 0, 0, 0, false, false))
            .weights(WeightFormat.BF16)
            .expertWeights(WeightFormat.BF16)
            .build();

    private static final GpuData AMPERE = gpuData(80);
    private static final GpuData BLACKWELL = gpuData(100);

    private static final StepExecution SGLANG =
            new StepExecution("SGLang", "sglang", CudaGraphs.ofDecodes(8), 0, 0, true, true);

    @TempDir
    private Path directory;

    /** Microseconds of a linear layer are n k / 1024 for one token. */
    private TableFolder folder() {
        var folder = new TableFolder(directory);
        folder.gemm("0.24.0", "bfloat16", row -> row[1] * row[2] / 1024e3 * (row[0] == 1 ? 1 : 2));
        folder.attention("0.24.0", 0.200, 0.020);
        return folder;
    }

    @Test
    void step_sumsKernelsUp() {
        var model = model(folder(), Map.of());

        // Of one token: qkv (2 + 2) x 32 = 128 outputs of 64 inputs take 8 us, o 64 of 64 4 us, gate and up 256 of 64
        // 16 us,
        // down 64 of 128 8 us: 36 us. Element-wise, at 1 MB/us: rotation 2 + 512e-6, cache 2 + 128e-6, activation 2 +
        // 768e-6, norms 2 (2 + 512e-6): 10.002432 us. Both layers 92.004864 us, and attention 20 us each.
        // The head of 100 words: 100 x 64 / 1024 = 6.25 us, and 2 (2 + 800e-6); the host 10 us.
        assertThat(model.stepNanos(decode())).isEqualTo(Math.round(92_004.864 + 40_000 + 6_250 + 4_001.6 + 10_000));
        double sum = model.explain(decode()).stream()
                .mapToDouble(share -> share.nanos())
                .sum();
        assertThat(model.stepNanos(decode())).isEqualTo(Math.round(sum));
        assertThat(model.missing()).isEmpty();
        assertThat(model.warnings(2048, 1, 1024))
                .containsExactly(
                        "latency.profiled: steps of up to 2048 tokens, measured up to 1024; beyond, times are extrapolated");
    }

    /**
     * The second layer has 96 outputs of 64 inputs, 6 us, gates 4 of 64 and 64 of 32, 4 us each as the smallest of the table,
     * in place of 8 and 4 us;
     * four element-wise kernels of 8 us and 384 + 256 + 16 + 192 bytes in place of two and 640 bytes. Its states are 2 x 16
     * x 16 elements of two bytes, read and written at 1 MB/us, in place of 20 us.
     */
    @Test
    void linearAttention_hasKernelsOfItsOwn() {
        var linear = LLM.withLinearAttention(new LlmSpec.LinearAttention(1, 1, 2, 16, 16, 4, 2));
        var gpu = TableFolder.GPU_SPEC.withLinearAttention(new GpuSpec.LinearAttention(0, 0, 1, 1));
        var folder = folder();
        var plain = model(folder, Map.of());
        var model = model(folder, linear, gpu);

        assertThat(share(model, decode(), "linear") - share(plain, decode(), "linear"))
                .isCloseTo(14_000 - 12_000 + 8_000.848 - 4_000.64, within(1e-6));
        assertThat(share(model, decode(), "attention")).isCloseTo(20_000 + 2.048, within(1e-6));
        assertThat(model.missing()).containsExactly("linear attention");
    }

    /**
     * A norm over all heads takes one GPU as long as one over each. On two each sums 96 elements up first, in 2 us and 192
     * bytes, and they exchange two sums in FP32 by a ring of 1 us and 1 GB/s, 8 bytes of a token; both in two layers.
     */
    @Test
    void normOverAllHeads_isExchanged() {
        var folder = folder();
        var one = Parallelism.ofTensors(1);
        var two = Parallelism.ofTensors(2);
        var perHead = normed(folder, QkNorm.PER_HEAD, two);
        var perLayer = normed(folder, QkNorm.PER_LAYER, two);

        assertThat(share(normed(folder, QkNorm.PER_LAYER, one), decode(), "linear"))
                .isCloseTo(share(normed(folder, QkNorm.PER_HEAD, one), decode(), "linear"), within(1e-6));
        assertThat(share(perLayer, decode(), "linear") - share(perHead, decode(), "linear"))
                .isCloseTo(2 * (2_000 + 0.192), within(1e-6));
        assertThat(share(perLayer, decode(), "all-reduce") - share(perHead, decode(), "all-reduce"))
                .isCloseTo(2 * (1_000 + 8), within(1e-6));
    }

    /**
     * The router's 4 x 64 weights in FP32 are read at 1 GB/us, 1.024 ns, which a BF16 router's table has as 4 us; its inputs
     * are converted in 2 us and 64 x 6 bytes. The arithmetic is 512 operations at half of 1 TFLOP/s, 1.024 ns, too; both count
     * by the root of the sum of their squares, and what is read and written of 68 elements of two bytes adds 0.136 ns to
     * the weights.
     */
    @Test
    void routerInFp32_hasNoTable() {
        var folder = folder();
        var plain = LLM.withFeedForward(new LlmSpec.FeedForward(128, true, 1, 4, 1, 32, 0, false, false));
        var exact = LLM.withFeedForward(new LlmSpec.FeedForward(128, true, 1, 4, 1, 32, 0, false, true));

        double more = share(model(folder, exact, TableFolder.GPU_SPEC), decode(), "linear")
                - share(model(folder, plain, TableFolder.GPU_SPEC), decode(), "linear");
        double product = Math.hypot(1.024, 1.024 + 0.136);
        assertThat(more).isCloseTo(product + 2_000.384 - 4_000, within(1e-6));
    }

    private static TableLatency normed(TableFolder folder, QkNorm norm, Parallelism parallelism) {
        var llm = LLM.withAttention(new LlmSpec.Attention(2, 1, 32, norm, false, 0, 0, null));
        var placement =
                new Placement(llm, TableFolder.GPU_SPEC, parallelism, 2, Mxfp4Activations.AUTO, MoeBackend.AUTO);
        return new TableLatency(folder.database(), TableFolder.GPU, Map.of(), placement, new HostOverhead(0, 10));
    }

    /**
     * In each of two layers 2 x 32 outputs of 16 inputs, 32 of 64, and 2 of 64, 4 us each as the smallest of the table; three
     * element-wise kernels of 2 us and 128 bytes, and two of 2 us and 256.
     */
    @Test
    void indexer_hasKernelsOfItsOwn() {
        var folder = folder();

        double more = share(latent(folder, new LlmSpec.Indexer(2, 32, 8)), decode(), "linear")
                - share(latent(folder, null), decode(), "linear");
        assertThat(more).isCloseTo(2 * (12_000 + 10_000 + 0.896), within(1e-6));
    }

    private static TableLatency latent(TableFolder folder, LlmSpec.@Nullable Indexer indexer) {
        var latent = new LlmSpec.LatentAttention(16, 8, 4, 8, 8, indexer);
        var attention = new LlmSpec.Attention(2, 2, 12, QkNorm.NONE, false, 0, 0, latent);
        return model(folder, LLM.withAttention(attention), TableFolder.GPU_SPEC);
    }

    @Test
    void chunk_isTheShareOfItsPairs() {
        var model = model(folder(), Map.of());
        var batch = new BatchShape.Builder();
        batch.add(512, 512, false);

        // 200 us for all 1024 tokens, of whose pairs the second half has 3/4; in two layers.
        assertThat(share(model, batch.build(), "attention")).isCloseTo(2 * 150_000, within(1e-6));
    }

    @Test
    void fewTokens_arePadded() {
        assertThat(CudaGraphs.VLLM.padded(0)).isZero();
        assertThat(CudaGraphs.VLLM.padded(1)).isEqualTo(1);
        assertThat(CudaGraphs.VLLM.padded(3)).isEqualTo(4);
        assertThat(CudaGraphs.VLLM.padded(9)).isEqualTo(16);
        assertThat(CudaGraphs.VLLM.padded(257)).isEqualTo(272);
        assertThat(CudaGraphs.VLLM.padded(513)).isEqualTo(513);
    }

    @Test
    void tableThatBeatsTheTensorCores_isRejected() {
        var folder = folder();
        // 2 heads x 32 x 2 x 1024^2 operations are 13.4 us at 10 TFLOP/s; both rows claim 1 us.
        folder.attention("0.25.0", 0.001, 0.010);

        var model = model(folder, Map.of());

        assertThat(model.warnings(1, 1, 1))
                .containsExactly("latency.profiled: context_attention of vLLM 0.25.0 is not used: 1 of 2 rows of"
                        + " context_attention_perf.parquet are faster than the tensor cores of the GPU");
        assertThat(model.sources())
                .anyMatch(line -> line.contains("prefill attention") && line.contains("vLLM 0.24.0"))
                .anyMatch(line -> line.contains("decode attention") && line.contains("vLLM 0.25.0"));
    }

    @ParameterizedTest
    @CsvSource({"auto, 0.19.0, false", "0.24.0, 0.24.0, true"})
    void tableKnownToBeWrong_isTakenOnlyIfNamed(String setting, String expected, boolean isWarned) {
        var folder = folder();
        folder.gemm("0.19.0", "fp8_block", row -> 1);
        folder.gemm("0.24.0", "fp8_block", row -> 1);

        var choice = new TableChoice(folder.database(), TableFolder.GPU, Map.of("gemm", setting), StepExecution.VLLM);
        var part = new TableChoice.Part("gemm", "gemm", "gemm", "layers", "fp8_block");
        var version = choice.choose(part, TableFile::version);

        assertThat(version).isEqualTo(expected);
        assertThat(choice.warnings().stream().anyMatch(line -> line.endsWith("50 to 150 us at least")))
                .isEqualTo(isWarned);
    }

    /**
     * 0.16 lies between 0.14 and 0.18, of which the older one counts; the table of 0.18 is known to be wrong, and then 0.19
     * is nearer to 0.18 than 0.14 is. A patch is nearer than any minor version.
     */
    @ParameterizedTest
    @CsvSource({
        "'', 0.19.0",
        "0.16.0, 0.14.0",
        "0.12.0, 0.14.0",
        "0.17.0, 0.19.0",
        "0.18.0, 0.19.0",
        "0.18.7, 0.19.0",
        "0.30, 0.19.0",
        "0.14.1.post2, 0.14.0"
    })
    void nearestVersionIsTaken_ofThoseThatAreNotKnownToBeWrong(String engine, String expected) {
        var folder = folder();
        for (String version : List.of("0.14.0", "0.18.0", "0.19.0", "0.24.0")) {
            folder.gemm(version, "fp8_block", row -> 1);
        }
        var choice = new TableChoice(folder.database(), TableFolder.GPU, Map.of("engine", engine), StepExecution.VLLM);
        var part = new TableChoice.Part("gemm", "gemm", "gemm", "layers", "fp8_block");

        assertThat(choice.choose(part, TableFile::version)).isEqualTo(expected);
        assertThat(choice.sources())
                .singleElement()
                .asString()
                .startsWith("latency.profiled: layers: vLLM " + expected);
    }

    @Test
    void tablesOfTheEngine_goBeforeThoseOfVllm() {
        var folder = folder();
        folder.setEngine("sglang");
        folder.gemm("0.5.9", "bfloat16", row -> 0.020);

        var model = model(folder, Map.of(), SGLANG);

        // Attention was not measured in SGLang.
        assertThat(model.sources())
                .anyMatch(line -> line.contains("linear layers in bfloat16: SGLang 0.5.9, data/test_gpu/gemm/sglang"))
                .anyMatch(line -> line.contains("decode attention") && line.contains("vLLM 0.24.0"));
        // Four matrices of 20 us in each layer; the rest as in step_sumsKernelsUp.
        assertThat(share(model, decode(), "linear")).isCloseTo(2 * (80_000 + 10_002.432), within(1e-6));
        assertThat(folder.database().versions(TableFolder.GPU, "sglang")).containsOnlyKeys("gemm/gemm");
        assertThatThrownBy(() -> model(folder, Map.of("gemm", "0.1.0"), SGLANG))
                .hasMessage("version 0.1.0 of gemm is none of [0.5.9, 0.24.0] of test_gpu");
        assertThat(model(folder, Map.of("gemm", "0.24.0"), SGLANG).sources())
                .anyMatch(line -> line.contains("linear layers in bfloat16: vLLM 0.24.0"));
    }

    @Test
    void stepsBesideGraphs_areNotPadded() {
        var folder = folder();
        // 1 us for each token from 1 to 1024.
        folder.gemm("0.24.0", "bfloat16", row -> row[0] / 1e3);
        var model = model(folder, Map.of(), SGLANG);

        // 3 decodes are computed as 4, and 9 as 9, since the largest graph has 8.
        assertThat(share(model, decodes(3), "linear")).isEqualTo(share(model, decodes(4), "linear"));
        assertThat(share(model, decodes(9), "linear")).isLessThan(share(model, decodes(10), "linear"));
    }

    @Test
    void versions_areOrderedByNumberAndReused() {
        var folder = folder();
        folder.gemm("0.9.1", "bfloat16", row -> 1);
        folder.reuse("gemm", "0.100.0", "gemm", "0.9.1");

        var files = folder.database().files(TableFolder.GPU, "vllm", "gemm", "gemm");

        assertThat(files.keySet()).containsExactly("0.100.0", "0.24.0", "0.9.1");
        assertThat(files.get("0.100.0")).isEqualTo(files.get("0.9.1"));
    }

    @Test
    void whatNoTableHas_comesFromTheRoofline() {
        var model = new TableLatency(
                folder().database(),
                TableFolder.GPU,
                Map.of(),
                new Placement(
                        LLM.withAllWeights(WeightFormat.INT4),
                        TableFolder.GPU_SPEC,
                        Parallelism.ofTensors(2),
                        1,
                        Mxfp4Activations.AUTO,
                        MoeBackend.AUTO),
                new HostOverhead(0, 0));

        assertThat(model.missing()).containsExactly("attention", "gemm", "all-reduce");
        assertThat(model.warnings(1, 1, 1))
                .contains("latency.profiled: no times of 2-GPU all-reduces; they come from the roofline");
        assertThat(model.stepNanos(decode())).isPositive();
    }

    @Test
    void layersBetweenAndBeyond_areBilinear() {
        var folder = new TableFolder(directory);
        folder.gemm("0.24.0", "bfloat16", row -> row[1] * row[2] / 1e3);
        var file =
                folder.database().files(TableFolder.GPU, "vllm", "gemm", "gemm").get("0.24.0");

        var table = GemmTable.read(file, "bfloat16", AMPERE);

        assertThat(table.layer(100, 200).applyAsDouble(1)).isCloseTo(20_000, within(1e-6));
        assertThat(table.layer(512, 512).applyAsDouble(1)).isCloseTo(512 * 512, within(1e-6));
        assertThat(GemmTable.read(file, "fp8", AMPERE)).isNull();
    }

    @Test
    void pairThatIsMissing_isInProportionToTheNextSmaller() {
        var folder = new TableFolder(directory);
        double[][] rows = {{1, 64, 64}, {1, 64, 256}, {1, 256, 64}};
        folder.table(
                "gemm", "1.0.0", "gemm", Map.of("gemm_dtype", "fp8"), new String[] {"m", "n", "k"}, rows, row -> 0.005);

        var table = GemmTable.read(
                folder.database().files(TableFolder.GPU, "vllm", "gemm", "gemm").get("1.0.0"), "fp8", AMPERE);

        // 5 us with 64 outputs of 256 inputs; 256 outputs are four times as many.
        assertThat(table.layer(256, 256).applyAsDouble(1)).isCloseTo(20, within(1e-9));
    }

    @Test
    void otherNumberOfHeads_isScaledForPrefillsAlone() {
        var database = folder().database();
        var prefills = database.files(TableFolder.GPU, "vllm", "attention", "context_attention")
                .get("0.24.0");
        var decodes = database.files(TableFolder.GPU, "vllm", "attention", "generation_attention")
                .get("0.24.0");
        var layer = new AttentionTable.Layer(3, 1, 32, "bfloat16", 0);

        // 2 heads were measured, with 200 and 20 us.
        assertThat(AttentionTable.prefills(prefills, layer, 1e9).applyAsDouble(64))
                .isCloseTo(300, within(1e-9));
        assertThat(AttentionTable.decodes(decodes, layer).micros(1, 64)).isCloseTo(20, within(1e-9));
    }

    @Test
    void allReduce_dependsOnWhetherItIsInAGraph() {
        var folder = folder();
        double[][] rows = {{2, 1024}, {2, 2048}};
        folder.table(
                "comm",
                "1.0.0",
                "custom_allreduce",
                Map.of("backend", "vllm_graph"),
                new String[] {"num_gpus", "message_size"},
                rows,
                row -> row[1] == 1024 ? 0.100 : 0.010);
        var file = folder.database()
                .files(TableFolder.GPU, "vllm", "comm", "custom_allreduce")
                .get("1.0.0");
        var graph = Rows.read(file, Set.of("message_size")).curve("message_size");

        assertThat(AllReduceTable.read(new TableFile("vllm", "1.0.0", file), 2))
                .as("no eager rows")
                .isNull();
        // A spike of 100 us is cut to 1.05 times the next.
        var table = new AllReduceTable(AllReduceTable.smooth(graph), graph.map(micros -> 7));
        var kernel = table.kernel("all-reduce", 1, 2);
        assertThat(kernel.stepMicros(true, 512)).isCloseTo(10.5, within(1e-9));
        assertThat(kernel.stepMicros(false, 512)).isCloseTo(7, within(1e-9));
    }

    /** Up to 1 MiB, which are 524,288 elements, eight GPUs reduce and normalize in one kernel. */
    @Test
    void normsOnBlackwell_areFusedWithSmallAllReduces() {
        // One round of vLLM's kernel, below 256 KiB, grows by 1 us for 16,384 elements; its two rounds take 26 us.
        var graph = curve(65_536, 9, 131_071, 13, 131_072, 26, 262_144, 26, 524_288, 20, 1_048_576, 100);
        var table = new AllReduceTable(graph, graph.map(micros -> 40));

        var kernel = table.kernelWithNorm("all-reduce", 1, 8192, NormFusion.of(BLACKWELL, 8), tokens -> 5);

        assertThat(kernel.stepMicros(true, 8)).isCloseTo(9, within(1e-3));
        // 16 and 24 tokens: 4 and 8 us more than 8 tokens. 64 tokens would be 28 us more, but 20 us were measured.
        assertThat(kernel.stepMicros(true, 16)).isCloseTo(13, within(1e-3));
        assertThat(kernel.stepMicros(true, 24)).isCloseTo(17, within(1e-3));
        assertThat(kernel.stepMicros(true, 64)).isCloseTo(20, within(1e-3));
        assertThat(kernel.stepMicros(true, 128)).as("two kernels").isCloseTo(105, within(1e-3));
        assertThat(kernel.stepMicros(false, 64)).isEqualTo(40);
        assertThat(kernel.stepMicros(false, 65)).isEqualTo(45);
    }

    @Test
    void spikesOfFp8_areCutMoreOnBlackwell() {
        var folder = new TableFolder(directory);
        // 1 token is measured with twice the time of 1024.
        folder.gemm("1.0.0", "fp8", row -> row[0] == 1 ? 2 : 1);
        var file =
                folder.database().files(TableFolder.GPU, "vllm", "gemm", "gemm").get("1.0.0");

        assertThat(GemmTable.read(file, "fp8", AMPERE).layer(64, 64).applyAsDouble(1))
                .isCloseTo(1300, within(1e-9));
        assertThat(GemmTable.read(file, "fp8", BLACKWELL).layer(64, 64).applyAsDouble(1))
                .isCloseTo(1050, within(1e-9));
    }

    private static GpuData gpuData(int smVersion) {
        return new GpuData(1e6, 1e9, 1e9, 1e9, smVersion);
    }

    private static Curve curve(double... points) {
        var builder = new Curve.Builder();
        for (int i = 0; i < points.length; i += 2) {
            builder.add(points[i], points[i + 1]);
        }
        return builder.build();
    }

    @Test
    void moreTokensThanSummedUp_areInProportion() {
        var sum = new KernelSum(List.of(new Kernel("linear", 2, tokens -> tokens)), tokens -> tokens, 0, 4);

        // Twice 4 us for 4 tokens.
        assertThat(sum.micros(false, 8)).isEqualTo(16);
        assertThat(sum.micros(true, 0)).isZero();
    }

    @Test
    void unknownVersionOrGpu_isNamed() {
        assertThatThrownBy(() -> model(folder(), Map.of("gemm", "0.1.0")))
                .isInstanceOf(KernelDatabaseException.class)
                .hasMessage("version 0.1.0 of gemm is none of [0.24.0] of test_gpu");
        assertThatThrownBy(() -> folder().database().gpu("h20"))
                .hasMessage(directory + ": has no tables of h20, but of [test_gpu]");
    }

    private static BatchShape decode() {
        return decodes(1);
    }

    private static BatchShape decodes(int count) {
        var batch = new BatchShape.Builder();
        for (int i = 0; i < count; i++) {
            batch.add(1, 511, true);
        }
        return batch.build();
    }

    private static double share(TableLatency model, BatchShape batch, String part) {
        return model.explain(batch).stream()
                .filter(share -> share.part().equals(part))
                .findFirst()
                .orElseThrow()
                .nanos();
    }

    private static TableLatency model(TableFolder folder, Map<String, String> versions) {
        return model(folder, versions, StepExecution.VLLM);
    }

    private static TableLatency model(TableFolder folder, LlmSpec llm, GpuSpec gpu) {
        var placement = new Placement(llm, gpu, Parallelism.ofTensors(1), 2, Mxfp4Activations.AUTO, MoeBackend.AUTO);
        return new TableLatency(
                folder.database(), TableFolder.GPU, Map.of(), placement, new HostOverhead(0, 10, StepExecution.VLLM));
    }

    private static TableLatency model(TableFolder folder, Map<String, String> versions, StepExecution execution) {
        return new TableLatency(
                folder.database(),
                TableFolder.GPU,
                versions,
                new Placement(
                        LLM, TableFolder.GPU_SPEC, Parallelism.ofTensors(1), 2, Mxfp4Activations.AUTO, MoeBackend.AUTO),
                new HostOverhead(0, 10, execution));
    }
}
