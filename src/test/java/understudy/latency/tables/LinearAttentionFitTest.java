package understudy.latency.tables;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.latency.BatchShape;
import understudy.latency.LinearAttentionTime;
import understudy.latency.LlmSpec.LinearAttention;
import understudy.scenario.GpuFile;
import understudy.scenario.SpecFiles;

/**
 * Times of Triton's kernels (flash-linear-attention) for chunks, published with FlashInfer's own: pull request 3866 on an H100,
 * 3001 on a B200. A layer of Qwen3.5-397B, whose 64 value heads eight or four GPUs share.
 */
final class LinearAttentionFitTest {
    private static final LinearAttention QWEN = new LinearAttention(1, 16, 64, 128, 128, 4, 2);

    @ParameterizedTest
    @CsvSource({
        "h100, 8, 2048, 0.086",
        "h100, 8, 4096, 0.144",
        "h100, 8, 8192, 0.259",
        "h100, 8, 16384, 0.508",
        "h100, 8, 32768, 0.997",
        "h100, 8, 65536, 1.954",
        "h100, 8, 6144+2048, 0.221",
        "h100, 8, 4096+4096, 0.184",
        "b200, 8, 4096, 0.215",
        "b200, 8, 8192, 0.338",
        "b200, 8, 6144+2048, 0.285",
        "b200, 8, 4096+4096, 0.239",
        "b200, 8, 2048+2048+2048+2048, 0.208",
        "b200, 4, 8192, 0.424"
    })
    void publishedChunks_areNear(String gpu, int tensorParallelSize, String chunks, double millis) {
        var spec = GpuFile.read(SpecFiles.GPUS.find(gpu).orElseThrow()).spec();
        var batch = new BatchShape.Builder();
        Arrays.stream(chunks.split("\\+")).forEach(tokens -> batch.add(Integer.parseInt(tokens), 0, true));

        assertThat(new LinearAttentionTime(QWEN, spec, tensorParallelSize).micros(batch.build()))
                .isCloseTo(1e3 * millis, withinPercentage(7));
    }
}
