package understudy.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import understudy.latency.GpuSpec.ExpertKernels;
import understudy.latency.GpuSpec.Experts;
import understudy.latency.WeightFormat;

/** Numbers of experts' kernels that a GPU's file does not give. */
final class GpuExpertsTest {
    @TempDir
    private Path folder;

    /** FP8 products at 0.5 of 200 TFLOP/s are twice as fast as BF16's at 0.5 of 100, and so experts are by default. */
    @Test
    void formats_areAsBf16_unlessTheyHaveNumbers() throws IOException {
        var kernels = read("""
                experts {
                  bf16 { compute-efficiency = 0.4, bandwidth-efficiency = 0.7, routed-efficiency = 0.3, idle-rows = 16
                    overhead = 20us, per-expert = 10ns }
                  int4 { compute-efficiency = 0.2, overhead = 30us }
                  mxfp4 { bandwidth-efficiency = 0.5 }
                }
                """).kernels();

        assertThat(kernels.get(WeightFormat.BF16)).isEqualTo(new ExpertKernels(0.4, 0.7, 0.3, 16, 20, 0.01));
        assertThat(kernels.get(WeightFormat.FP32)).isEqualTo(new ExpertKernels(0.2, 0.7, 0.3, 16, 20, 0.01));
        assertThat(kernels.get(WeightFormat.FP8)).isEqualTo(new ExpertKernels(0.8, 0.7, 0.3, 16, 20, 0.01));
        assertThat(kernels.get(WeightFormat.FP8_BLOCK)).isEqualTo(kernels.get(WeightFormat.FP8));
        assertThat(kernels.get(WeightFormat.INT4)).isEqualTo(new ExpertKernels(0.2, 0.7, 0.3, 16, 30, 0.01));
        assertThat(kernels.get(WeightFormat.MXFP4)).isEqualTo(new ExpertKernels(0.2, 0.5, 0.3, 16, 30, 0.01));
        assertThat(kernels.get(WeightFormat.MXFP4_MARLIN)).isEqualTo(kernels.get(WeightFormat.INT4));
        assertThat(kernels.get(WeightFormat.NVFP4)).isEqualTo(kernels.get(WeightFormat.INT4));
    }

    @Test
    void expertParallelKernels_areAsOthers_unlessTheyHaveNumbers() throws IOException {
        var experts = read("""
                experts {
                  bf16 { compute-efficiency = 0.4, overhead = 20us, expert-parallel { overhead = 40us } }
                  int4 { compute-efficiency = 0.2 }
                  fp8-block { overhead = 30us, expert-parallel { compute-efficiency = 0.6 } }
                }
                """);

        var parallel = experts.expertParallelKernels();
        assertThat(overheads(parallel))
                .containsEntry(WeightFormat.BF16, 40.0)
                .containsEntry(WeightFormat.INT4, 40.0)
                .containsEntry(WeightFormat.FP8_BLOCK, 30.0);
        assertThat(parallel.get(WeightFormat.INT4).compute()).isEqualTo(0.2);
        assertThat(parallel.get(WeightFormat.FP8_BLOCK).compute()).isEqualTo(0.6);
        assertThat(experts.kernels().get(WeightFormat.FP8_BLOCK).compute()).isEqualTo(0.8);
    }

    private static Map<WeightFormat, Double> overheads(Map<WeightFormat, ExpertKernels> kernels) {
        return kernels.entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, entry -> entry.getValue().overheadMicros()));
    }

    private Experts read(String experts) throws IOException {
        var file = Files.writeString(folder.resolve("round.conf"), """
                name = round, bf16-tflops = 100, fp8-tflops = 200, bandwidth-gb-per-s = 1000
                gemm { compute-efficiency = 0.5, bandwidth-efficiency = 0.9, overhead = 1us }
                fp8-gemm { compute-efficiency = 0.5, overhead = 1us }
                """ + experts);
        return GpuFile.read(SpecFiles.GPUS.read(file)).spec().experts();
    }
}
