package understudy.latency.tables;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class KnownDefectsTest {
    /** A defect is one of a table, a format, a release and an engine, and some of them of a GPU's generation. */
    @ParameterizedTest
    @CsvSource({
        "h200_sxm, vllm,   0.24.0, moe,  fp8,       true",
        "h100_sxm, vllm,   0.24.0, moe,  fp8,       true",
        "b200_sxm, vllm,   0.24.0, moe,  fp8,       false",
        "h200_sxm, vllm,   0.19.0, moe,  fp8,       false",
        "h200_sxm, vllm,   0.24.0, moe,  fp8_block, false",
        "b200_sxm, vllm,   0.24.0, gemm, fp8_block, true",
        "b200_sxm, sglang, 0.24.0, gemm, fp8_block, false",
        "h200_sxm, vllm,   0.19.0, moe,  int4_wo,   true"
    })
    void defect_isKnownWhereItWasMeasured(
            String gpu, String engine, String version, String table, String dtype, boolean isKnown) {
        var path = Path.of("data", gpu, table, engine, version, table + "_perf.parquet");
        var file = new TableFile(engine, version, path);

        assertThat(KnownDefects.of(table, dtype, file).isPresent()).isEqualTo(isKnown);
    }
}
