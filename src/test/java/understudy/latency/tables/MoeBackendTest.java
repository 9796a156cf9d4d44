package understudy.latency.tables;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Kernels that versions of vLLM choose for experts. */
final class MoeBackendTest {

    private static MoeBackend chosen(String version, int smVersion, String dtype, boolean isExpertParallel) {
        return MoeBackend.chosenByVllm(version, new GpuData(1, 1, 2, 0, smVersion), dtype, isExpertParallel);
    }

    /** By version, an empty one for the newest, and compute capability: with a part of each expert on a GPU, and with whole ones. */
    @ParameterizedTest
    @CsvSource({
        "0.14.1, 90, TRITON, TRITON",
        "0.15.0, 90, FLASHINFER_CUTLASS, FLASHINFER_CUTLASS",
        "0.16.2, 90, FLASHINFER_CUTLASS, FLASHINFER_CUTLASS",
        "0.17.0, 90, TRITON, FLASHINFER_CUTLASS",
        "0.100.0, 90, TRITON, FLASHINFER_CUTLASS",
        "'', 90, TRITON, FLASHINFER_CUTLASS",
        "0.14.1, 100, TRITON, TRITON",
        "0.15.0, 100, FLASHINFER_TRTLLM, FLASHINFER_TRTLLM",
        "'', 103, FLASHINFER_TRTLLM, FLASHINFER_TRTLLM",
        "'', 80, AUTO, AUTO",
        "'', 120, AUTO, AUTO"
    })
    void expertsInFp8Blocks(String version, int smVersion, MoeBackend ofParts, MoeBackend ofWhole) {
        assertThat(chosen(version, smVersion, Dtypes.FP8_BLOCK, false)).isEqualTo(ofParts);
        assertThat(chosen(version, smVersion, Dtypes.FP8_BLOCK, true)).isEqualTo(ofWhole);
    }

    @Test
    void otherFormats_areWhatTheTableOfAVersionHas() {
        assertThat(chosen("", 90, Dtypes.FP8, true)).isEqualTo(MoeBackend.AUTO);
        assertThat(chosen("", 90, Dtypes.BF16, true)).isEqualTo(MoeBackend.AUTO);
    }

    @Test
    void id_isVllmsWord() {
        assertThat(MoeBackend.FLASHINFER_CUTLASS.id()).isEqualTo("flashinfer_cutlass");
    }
}
