package understudy.latency.tables;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.TestData;
import understudy.latency.Gemm;
import understudy.latency.WeightFormat;
import understudy.scenario.GpuFile;
import understudy.scenario.SpecFiles;

/** Matrix products of layers by the files of GPUs against the tables of vLLM 0.24 that they were fitted to. */
final class GemmFitTest {
    private static final double MOST_WEIGHTS = 2e8;
    private static final int FEWEST_INPUTS = 1024;
    private static final Set<String> COLUMNS = Set.of("gemm_dtype", "m", "n", "k");

    /**
     * Bounds of the median absolute error in percent, over all numbers of tokens; from 1024 inputs and outputs on, and up to
     * 2e8 weights, as layers have them.
     */
    @ParameterizedTest
    @CsvSource({
        "h200, BF16,  12",
        "h200, FP8,   17",
        "b200, BF16,  8",
        "b200, FP8,   17",
        "b200, NVFP4, 9",
        "b300, BF16,  7",
        "b300, FP8,   17",
        "b300, NVFP4, 10"
    })
    void linearLayers_takeWhatKernelsTake(String name, WeightFormat format, double percent) {
        var gpu = GpuFile.read(SpecFiles.GPUS.find(name).orElseThrow());
        var errors = new Errors();
        var rows = rows(gpu).where("gemm_dtype", Dtypes.ofLinear(format).orElseThrow());
        rows.forEach(row -> {
            double n = row.number("n");
            double k = row.number("k");
            if (n >= FEWEST_INPUTS && k >= FEWEST_INPUTS && n * k <= MOST_WEIGHTS) {
                double micros = Gemm.of(gpu.spec(), format, n, k).micros(row.number("m"));
                errors.add(micros, row.micros());
            }
        });

        assertThat(errors.median()).isLessThan(percent);
    }

    private static Rows rows(GpuFile gpu) {
        var files = new KernelDatabase(TestData.require("aiconfigurator"))
                .files(gpu.kernelTables(), "vllm", "gemm", "gemm");
        return Rows.read(files.get("0.24.0"), COLUMNS);
    }
}
