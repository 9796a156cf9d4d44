package understudy.latency.tables;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import understudy.latency.BatchShape;
import understudy.latency.GpuSpec;
import understudy.latency.LatentAttentionTime;
import understudy.latency.LlmSpec.Attention;
import understudy.latency.LlmSpec.FeedForward;
import understudy.latency.LlmSpec.LatentAttention;
import understudy.latency.LlmSpec.QkNorm;
import understudy.latency.LlmSpecBuilder;
import understudy.latency.WeightFormat;

/**
 * Prompts of 1, 100 and 200 tokens take 4, 100 and 400 us, whose roots are 2, 10 and 20, decompression 1 us a token. Four
 * heads of latent attention with vectors of 3 + 2 elements, keys of 4 + 2 and values of 4, on a GPU of 10^6 bytes and
 * operations per us.
 */
final class LatentChunksTest {
    private static final double EXACT = 1e-6;
    private static final LatentAttention DIMS = new LatentAttention(0, 3, 2, 4, 4, null);

    /**
     * 150 tokens have a root of 15: 225 us, 100 of them before the chunk, and 4 us fixed. The 100 are decompressed; of each
     * 20 bytes are gathered and 84 put together; of each of 50 tokens 96 bytes are merged.
     */
    @Test
    void chunkOfModules_isTheDifferenceOfPrompts_andDecompression() {
        assertThat(micros(true, 1, chunk(50, 100))).isCloseTo(225 - 100 + 4 + 100 + 0.0152, within(EXACT));
        assertThat(micros(true, 1, chunk(100, 0))).isCloseTo(100, within(EXACT));
    }

    /** Prompts of 100 to 200 tokens take 36 us here, but 50 tokens a root of 2 + 4 x 49 / 99. */
    @Test
    void chunkOfModules_takesNoLessThanAlone() {
        var flat = new AttentionTable(curve(1, 4, 100, 36, 200, 36), grid(), decodes -> 0);

        assertThat(chunks(true, 1).micros(flat, chunk(50, 100)))
                .isCloseTo(sq(2 + 4 * 49 / 99.0) + 100 + 0.0152, within(EXACT));
    }

    /** 200 queries are computed as 256, with 16 operations for each of 100 tokens. */
    @Test
    void shortChunkOfModules_attendsToWhatIsCompressed() {
        assertThat(micros(true, 50, chunk(50, 100)))
                .isCloseTo(sq(2 + 8 * 49 / 99.0) + 256 * 16 * 100 / 1e6, within(EXACT));
        assertThat(micros(true, 49, chunk(50, 100))).isEqualTo(micros(true, 1, chunk(50, 100)));
    }

    /**
     * Below 8,192 tokens SGLang absorbs: 256 rows by 100 tokens and half of 50. From there on it decompresses: the root of
     * 8,242 tokens is 824.2, so that pairs are (8242^2 - 8192^2) / 100 = 8217 us; 104 x 8192 + 96 x 50 bytes.
     */
    @Test
    void chunkOfKernels_isAbsorbedOrDecompressedByTheTokensBefore() {
        assertThat(micros(false, 1, chunk(50, 100))).isCloseTo(256 * 16 * 125 / 1e6, within(EXACT));
        assertThat(micros(false, 1, chunk(50, 8192))).isCloseTo(8217 + 8192 + 0.856768, within(EXACT));
        assertThat(micros(false, 1, chunk(100, 0))).isCloseTo(100, within(EXACT));
    }

    @Test
    void surplus_growsWithEachDoubling_andIsNoneWhereNormsAreFused(@TempDir Path folder) throws IOException {
        var table = folder.resolve("mla_generation_module_perf.parquet");

        assertThat(UnfusedNorms.micros(1)).isEqualTo(29);
        assertThat(UnfusedNorms.micros(16)).isCloseTo(29 + 4 * 3.6, within(EXACT));
        assertThat(UnfusedNorms.areFused(table)).isFalse();
        Files.writeString(folder.resolve("collection_meta.yaml"), "tables: {}\n");
        assertThat(UnfusedNorms.areFused(table)).isFalse();
        Files.writeString(folder.resolve("collection_meta.yaml"), "norm_dispatch: vllm_c_eager_surrogate\n");
        assertThat(UnfusedNorms.areFused(table)).isTrue();
    }

    private static double sq(double x) {
        return x * x;
    }

    private static BatchShape chunk(int tokens, int contextTokens) {
        var batch = new BatchShape.Builder();
        batch.add(tokens, contextTokens, true);
        return batch.build();
    }

    private static double micros(boolean haveModules, int absorbedChunk, BatchShape batch) {
        var table = new AttentionTable(curve(1, 4, 100, 100, 200, 400), grid(), decodes -> 0);
        return chunks(haveModules, absorbedChunk).micros(table, batch);
    }

    private static LatentChunks chunks(boolean haveModules, int absorbedChunk) {
        var llm = LlmSpecBuilder.builder()
                .name("layer")
                .numLayers(1)
                .hiddenSize(10)
                .vocabSize(1)
                .maxPositionEmbeddings(1)
                .attention(new Attention(4, 4, 6, QkNorm.NONE, false, 0, 0, DIMS))
                .feedForward(new FeedForward(1, true, 1, 0, 0, 0, 0, false, false))
                .weights(WeightFormat.BF16)
                .expertWeights(WeightFormat.BF16)
                .build();
        var decodes = new GpuSpec.LatentDecodes(1, 1, 0, Double.POSITIVE_INFINITY);
        var attention = TableFolder.GPU_SPEC.attention();
        var gpu = TableFolder.GPU_SPEC.withAttention(new GpuSpec.Attention(
                attention.kernel(), 1, 0, 1, 0, 0, 0, 0, new GpuSpec.Latent(1, absorbedChunk, decodes, decodes)));
        return new LatentChunks(haveModules, new LatentAttentionTime(llm, DIMS, gpu, 1, 2), tokens -> tokens);
    }

    private static Grid grid() {
        return new Grid(new TreeMap<>(Map.of(1.0, curve(1, 1), 2.0, curve(1, 1))));
    }

    private static Curve curve(double... points) {
        var builder = new Curve.Builder();
        for (int i = 0; i < points.length; i += 2) {
            builder.add(points[i], points[i + 1]);
        }
        return builder.build();
    }
}
