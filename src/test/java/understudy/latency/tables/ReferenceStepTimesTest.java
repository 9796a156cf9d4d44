package understudy.latency.tables;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Path;
import java.util.Map;
import java.util.function.DoubleUnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.TestData;
import understudy.latency.BatchShape;
import understudy.latency.CudaGraphs;
import understudy.latency.HostOverhead;
import understudy.latency.LlmSpec;
import understudy.latency.LlmSpec.QkNorm;
import understudy.latency.Parallelism;
import understudy.latency.Share;
import understudy.latency.StepExecution;
import understudy.latency.WeightFormat;
import understudy.scenario.GpuFile;
import understudy.scenario.LlmFile;
import understudy.scenario.SpecFiles;

/**
 * Step times on H200, held against those of a prototype that was written apart from this code and whose runs reproduce
 * measured serving results. Decodes attend to 2000 tokens each, the new one included.
 */
final class ReferenceStepTimesTest {
    private static final double NANOS_PER_MILLI = 1e6;
    private static final GpuData H200 = new GpuData(3.84e6, 989e6, 1978e6, 0, 90);

    /** Milliseconds of 16 and 64 decodes, of prefills of 1024 and 8192, of 2048 behind 4096, of 32 decodes beside 1024. */
    @ParameterizedTest
    @CsvSource({
        "meta-llama/Llama-3.1-70B, fp8, 1, 1, 1, 24.04, 32.65, 113.5, 1002, 264.8, 176.9",
        "meta-llama/Llama-3.1-70B, fp8, 4, 1, 1, 10.33, 14.04, 53.95, 398.5, 111.8, 73.93"
    })
    void steps_takeWhatThePrototypeSays(
            String llm,
            @Nullable String dtype,
            int tensorParallelSize,
            int expertParallelSize,
            int bytesPerKvElement,
            double decodes16,
            double decodes64,
            double prompt1024,
            double prompt8192,
            double behind4096,
            double mixed) {
        var model =
                model(llm, dtype, tensorParallelSize, expertParallelSize, bytesPerKvElement, new HostOverhead(0, 10));

        assertMillis(model, batch(16, 0, 0), decodes16);
        assertMillis(model, batch(64, 0, 0), decodes64);
        assertMillis(model, batch(0, 1024, 0), prompt1024);
        assertMillis(model, batch(0, 8192, 0), prompt8192);
        assertMillis(model, batch(0, 2048, 4096), behind4096);
        assertMillis(model, batch(32, 1024, 0), mixed);
    }

    /**
     * The same of MiniMax-M2.5. The prototype has its router in BF16 and its norms over each head, and experts take 1.7 times
     * what the tables say from 1,024 tokens on, in all kernels.
     */
    @ParameterizedTest
    @CsvSource({"4, 1, 12.60, 21.20, 58.55, 242.2, 86.95, 62.91", "8, 8, 10.03, 14.86, 36.00, 180.5, 53.22, 38.69"})
    void experts_takeWhatThePrototypeSays(
            int tensorParallelSize,
            int expertParallelSize,
            double decodes16,
            double decodes64,
            double prompt1024,
            double prompt8192,
            double behind4096,
            double mixed) {
        var minimax = stored("MiniMaxAI/MiniMax-M2.5");
        var attention = minimax.attention();
        var ffn = minimax.feedForward();
        var plain = minimax.with()
                .attention(new LlmSpec.Attention(
                        attention.numHeads(),
                        attention.numKvHeads(),
                        attention.headDim(),
                        QkNorm.PER_HEAD,
                        false,
                        0,
                        0,
                        null))
                .feedForward(new LlmSpec.FeedForward(
                        0, true, 0, ffn.numExperts(), ffn.numExpertsPerToken(), ffn.expertSize(), 0, false, false))
                .build();
        var model = model(plain, tensorParallelSize, expertParallelSize, 2, new HostOverhead(0, 10));

        assertMillis(model, batch(16, 0, 0), decodes16);
        assertMillis(model, batch(64, 0, 0), decodes64);
        assertMillisWithSlowExperts(model, batch(0, 1024, 0), prompt1024);
        assertMillisWithSlowExperts(model, batch(0, 8192, 0), prompt8192);
        assertMillisWithSlowExperts(model, batch(0, 2048, 4096), behind4096);
        assertMillisWithSlowExperts(model, batch(32, 1024, 0), mixed);
    }

    private static void assertMillisWithSlowExperts(TableLatency model, BatchShape batch, double millis) {
        double experts = model.explain(batch).stream()
                .filter(share -> share.part().equals("experts"))
                .mapToDouble(Share::nanos)
                .sum();
        double slow = (model.stepNanos(batch) + 0.7 * experts) / NANOS_PER_MILLI;

        assertThat(slow).isCloseTo(millis, within(0.003 * millis));
    }

    /**
     * Milliseconds of prefills of 1024 and 8192. The prototype takes 0.65 of modules of decodes, where these lose the norms
     * that no engine runs, and of a chunk the share of a whole module's time that its pairs are, where these decompress what
     * is cached.
     */
    @Test
    void promptsOfLatentAttention_takeWhatThePrototypeSays() {
        var model = model("moonshotai/Kimi-K2.5", null, 8, 1, 2, new HostOverhead(0, 10));

        assertMillis(model, batch(0, 1024, 0), 90.62);
        assertMillis(model, batch(0, 8192, 0), 449.7);
    }

    /** Milliseconds of 16 and 64 decodes; the prototype's prefills are those of other kernels than the table's. */
    @ParameterizedTest
    @CsvSource({"1, 11.84, 22.73", "4, 5.28, 8.85"})
    void gptOss_decodesAsThePrototypeSays(int tensorParallelSize, double decodes16, double decodes64) {
        var model = model("openai/gpt-oss-120b", null, tensorParallelSize, 1, 2, new HostOverhead(0, 10));

        assertMillis(model, batch(16, 0, 0), decodes16);
        assertMillis(model, batch(64, 0, 0), decodes64);
    }

    /**
     * SGLang's kernels of DeepSeek-R1 on 8 GPUs: milliseconds of 4, 16 and 64 decodes, of prefills of 1024 and 8192. The
     * prototype does not know that chunks behind cached tokens are absorbed.
     */
    @Test
    void stepsOfSglang_takeWhatItsPrototypeSays() {
        var graphs = CudaGraphs.ofDecodes(256);
        var sglang = new StepExecution("SGLang", "sglang", graphs, 0, 0, true, true);
        var model = model("deepseek-ai/DeepSeek-R1", null, 8, 1, 2, new HostOverhead(0, 0, sglang));

        assertMillis(model, batch(4, 0, 0), 9.764);
        assertMillis(model, batch(16, 0, 0), 17.557);
        assertMillis(model, batch(64, 0, 0), 27.396);
        assertMillis(model, batch(0, 1024, 0), 61.4);
        assertMillis(model, batch(0, 8192, 0), 297.25);
        assertThat(model.sources()).noneMatch(line -> line.contains("vLLM"));
    }

    /**
     * Llama-70B, hidden size 8192, width 28672, on 4 GPUs, 16 tokens: qkv has (16 + 2 x 2) x 128 = 2560 outputs, o 16 x
     * 128 = 2048 inputs, gate and up 2 x 28672 / 4 = 14336 outputs, down 7168 inputs, the head 128256 / 4 = 32064 outputs.
     */
    @Test
    void kernels_takeWhatThePrototypeSays() {
        var table = GemmTable.read(file("gemm/vllm/0.24.0/gemm_perf"), "fp8", H200);
        var unquantized = GemmTable.read(file("gemm/vllm/0.24.0/gemm_perf"), "bfloat16", H200);
        var allReduce =
                AllReduceTable.read(new TableFile("vllm", "0.24.0", file("comm/vllm/0.24.0/custom_allreduce_perf")), 4);

        assertMicros(table.layer(2560, 8192), 16, 13.35);
        assertMicros(table.layer(8192, 2048), 16, 9.32);
        assertMicros(table.layer(14_336, 8192), 16, 36.22);
        assertMicros(table.layer(8192, 7168), 16, 21.65);
        assertMicros(unquantized.layer(32_064, 8192), 16, 132.0);
        assertMicros(allReduce.kernel("all-reduce", 1, 8192).graphMicros(), 16, 6.99);
        // 2 us, and 8 x 16 x 8192 bytes at 0.8 x 4.8 TB/s: 0.273 us.
        assertMicros(new ElementwiseTime(2, 3.84e6).kernel(8 * 8192), 16, 2.27);
    }

    @Test
    void attention_takesWhatThePrototypeSays() {
        var layer = new AttentionTable.Layer(16, 2, 128, "fp8", 0);
        var prefills = AttentionTable.prefills(file("attention/vllm/0.24.0/context_attention_perf"), layer, 989e6);
        var decodes = AttentionTable.decodes(file("attention/vllm/0.24.0/generation_attention_perf"), layer);
        var attention = new TableAttention(1, new AttentionTable(prefills, decodes, sequences -> 0), 0, null, null);

        assertThat(attention.applyAsDouble(batch(16, 0, 0))).isCloseTo(19.85, within(0.01));
        assertThat(attention.applyAsDouble(batch(0, 1024, 0))).isCloseTo(32.5, within(0.05));
        // 6144 tokens take 297.25 us; (6144^2 - 4096^2) / 6144^2 = 5/9 of it.
        assertThat(attention.applyAsDouble(batch(0, 2048, 4096))).isCloseTo(165.1, within(0.1));
    }

    private static void assertMicros(DoubleUnaryOperator kernel, double x, double micros) {
        assertThat(kernel.applyAsDouble(x)).isCloseTo(micros, within(0.0005 * micros + 0.005));
    }

    private static void assertMillis(TableLatency model, BatchShape batch, double millis) {
        assertThat(model.stepNanos(batch) / NANOS_PER_MILLI).isCloseTo(millis, within(0.003 * millis));
    }

    private static BatchShape batch(int numDecodes, int chunkTokens, int chunkContext) {
        var batch = new BatchShape.Builder();
        for (int i = 0; i < numDecodes; i++) {
            batch.add(1, 1999, true);
        }
        if (chunkTokens > 0) {
            batch.add(chunkTokens, chunkContext, true);
        }
        return batch.build();
    }

    private static TableLatency model(
            String name,
            @Nullable String dtype,
            int tensorParallelSize,
            int expertParallelSize,
            int bytesPerKvElement,
            HostOverhead host) {
        var stored = stored(name);
        var llm = dtype == null ? stored : stored.withAllWeights(WeightFormat.FP8);
        return model(llm, tensorParallelSize, expertParallelSize, bytesPerKvElement, host);
    }

    private static LlmSpec stored(String name) {
        return LlmFile.read(SpecFiles.MODELS.find(name).orElseThrow()).spec();
    }

    private static TableLatency model(
            LlmSpec llm, int tensorParallelSize, int expertParallelSize, int bytesPerKvElement, HostOverhead host) {
        var database = new KernelDatabase(TestData.require("aiconfigurator"));
        var gpu = GpuFile.read(SpecFiles.GPUS.find("h200").orElseThrow()).spec();
        var parallelism = new Parallelism(
                tensorParallelSize, 1, expertParallelSize > 1, Parallelism.All2AllBackend.ALLGATHER_REDUCESCATTER);
        var placement = new Placement(llm, gpu, parallelism, bytesPerKvElement, Mxfp4Activations.AUTO, MoeBackend.AUTO);
        return new TableLatency(database, "h200_sxm", Map.of(), placement, host);
    }

    private static Path file(String name) {
        return TestData.require("aiconfigurator/data/h200_sxm/" + name + ".parquet");
    }
}
