package understudy.latency.tables;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.TestData;
import understudy.latency.AttentionTime;
import understudy.latency.BatchShape;
import understudy.latency.LlmSpec;
import understudy.latency.LlmSpec.QkNorm;
import understudy.latency.LlmSpecBuilder;
import understudy.latency.WeightFormat;
import understudy.scenario.GpuFile;
import understudy.scenario.SpecFiles;

/** Decode attention by the files of GPUs against the tables that it was fitted to. */
final class AttentionFitTest {
    private static final double BYTES_PER_MEGABYTE = 1e6;
    private static final double SMALL_MEGABYTES = 4;
    private static final Set<String> COLUMNS = Set.of(
            "batch_size", "step", "num_heads", "num_key_value_heads", "head_dim", "kv_cache_dtype", "window_size");

    /**
     * Bounds of the median absolute error in percent, over up to 512 decodes of 256 to 32,768 tokens. KV caches between 4 MB
     * and 1.4 times the L2 cache are left out: a kernel that is repeated reads them from there, and a server's does not.
     */
    @ParameterizedTest
    @CsvSource({
        "h200, 70,  bfloat16, 64,  3",
        "h200, 70,  bfloat16, 128, 4",
        "h200, 70,  fp8,      64,  15",
        "h200, 70,  fp8,      128, 4",
        "b300, 176, bfloat16, 64,  3",
        "b300, 176, bfloat16, 128, 3",
        "b300, 176, fp8,      64,  6",
        "b300, 176, fp8,      128, 4"
    })
    void decodes_takeWhatKernelsTake(String name, double coldMegabytes, String kvDtype, int headDim, double percent) {
        var gpu = GpuFile.read(SpecFiles.GPUS.find(name).orElseThrow());
        int bytesPerElement = kvDtype.equals("fp8") ? 1 : 2;
        var errors = new Errors();
        decodes(gpu.kernelTables(), kvDtype, headDim).forEach(row -> {
            int numDecodes = (int) row.number("batch_size");
            int tokens = (int) row.number("step") + 1;
            int numKvHeads = (int) row.number("num_key_value_heads");
            double megabytes = 2.0 * numDecodes * tokens * numKvHeads * headDim * bytesPerElement / BYTES_PER_MEGABYTE;
            boolean isCold = megabytes < SMALL_MEGABYTES || megabytes > coldMegabytes;
            if (isCold && numDecodes <= 512 && tokens >= 256 && tokens <= 32_768) {
                var layer = new AttentionTime(layer(numKvHeads, headDim), gpu.spec(), 1, bytesPerElement);
                errors.add(layer.micros(batch(numDecodes, tokens)), row.micros());
            }
        });

        assertThat(errors.median()).isLessThan(percent);
    }

    private static Rows decodes(String gpu, String kvDtype, int headDim) {
        var files = new KernelDatabase(TestData.require("aiconfigurator"))
                .files(gpu, "vllm", "attention", "generation_attention");
        return Rows.read(files.get("0.24.0"), COLUMNS)
                .where("window_size", 0)
                .where("head_dim", headDim)
                .where("kv_cache_dtype", kvDtype);
    }

    /** Returns a model of one layer; how many heads share a KV head does not matter. */
    private static LlmSpec layer(int numKvHeads, int headDim) {
        return LlmSpecBuilder.builder()
                .name("layer")
                .numLayers(1)
                .hiddenSize(4096)
                .vocabSize(1)
                .maxPositionEmbeddings(1)
                .attention(new LlmSpec.Attention(8 * numKvHeads, numKvHeads, headDim, QkNorm.NONE, false, 0, 0, null))
                .feedForward(new LlmSpec.FeedForward(1, true, 1, 0, 0, 0, 0, false, false))
                .weights(WeightFormat.BF16)
                .expertWeights(WeightFormat.BF16)
                .build();
    }

    private static BatchShape batch(int numDecodes, int tokens) {
        var batch = new BatchShape.Builder();
        for (int i = 0; i < numDecodes; i++) {
            batch.add(1, tokens - 1, true);
        }
        return batch.build();
    }
}
