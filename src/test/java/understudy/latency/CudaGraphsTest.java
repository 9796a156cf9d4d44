package understudy.latency;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class CudaGraphsTest {

    /** SGLang captures 1, 2, 4, 8, 12, then each eighth to 256, each sixteenth below 512, and each thirty-second. */
    @Test
    void decodes_arePaddedToTheNextSizeThatIsCaptured() {
        var graphs = CudaGraphs.ofDecodes(600);

        var tokens = IntStream.of(0, 1, 3, 5, 9, 13, 250, 257, 500, 513, 600, 601);
        assertThat(tokens.map(graphs::padded)).containsExactly(0, 1, 4, 8, 12, 16, 256, 272, 512, 544, 600, 601);
        // 576 is the last multiple of 32; 600 itself is none, and runs without.
        assertThat(graphs.maxTokens()).isEqualTo(576);
    }

    @Test
    void limit_isCapturedOnlyIfItIsASize() {
        assertThat(CudaGraphs.ofDecodes(10).maxTokens()).isEqualTo(8);
        assertThat(CudaGraphs.ofDecodes(24).padded(17)).isEqualTo(24);
        assertThat(CudaGraphs.ofDecodes(0).maxTokens()).isZero();
    }

    @Test
    void prefill_isInNoGraphOfDecodes() {
        var batch = new BatchShape.Builder();
        batch.add(1, 100, true);
        batch.add(2, 0, true);

        assertThat(CudaGraphs.ofDecodes(256).cover(batch.build(), 3)).isFalse();
        assertThat(CudaGraphs.VLLM.cover(batch.build(), 3)).isTrue();
        assertThat(CudaGraphs.VLLM.cover(batch.build(), 513)).isFalse();
    }

    /** vLLM captures 1, 2, 4, each eighth to 256, and each sixteenth beyond, 2048 as its own last one. */
    @Test
    void sizesOfVllm_goUpToTheLargest() {
        var graphs = CudaGraphs.upTo(2048, CudaGraphs.Mode.FULL);

        assertThat(IntStream.of(3, 5, 255, 257, 513, 2033, 2049).map(graphs::padded))
                .containsExactly(4, 8, 256, 272, 528, 2048, 2049);
        assertThat(CudaGraphs.upTo(6, CudaGraphs.Mode.FULL).maxTokens()).isEqualTo(4);
        assertThat(CudaGraphs.upTo(512, CudaGraphs.Mode.FULL_AND_PIECEWISE)).isEqualTo(CudaGraphs.VLLM);
    }

    @Test
    void prefills_areInGraphsOfAllModesButTwo() {
        var decodes = new BatchShape.Builder();
        decodes.add(1, 100, true);
        var mixed = new BatchShape.Builder();
        mixed.add(1, 100, true);
        mixed.add(2, 0, true);

        // The modes are none, piecewise, full, full-decode-only and full-and-piecewise.
        assertThat(covered(decodes.build())).containsExactly(false, true, true, true, true);
        assertThat(covered(mixed.build())).containsExactly(false, true, true, false, true);
    }

    private static Stream<Boolean> covered(BatchShape batch) {
        return Arrays.stream(CudaGraphs.Mode.values())
                .map(mode -> CudaGraphs.upTo(8, mode).cover(batch, batch.numTokens()));
    }

    /** Each size up to 32, and then the usual ones; 5 graphs of at most 5 tokens. */
    @Test
    void smallSizes_mayAllBeCaptured() {
        var graphs = CudaGraphs.finelyUpTo(512, CudaGraphs.Mode.FULL);

        assertThat(IntStream.of(3, 31, 33, 257).map(graphs::padded)).containsExactly(3, 31, 40, 272);
        assertThat(CudaGraphs.finelyUpTo(5, CudaGraphs.Mode.FULL).maxTokens()).isEqualTo(5);
    }
}
