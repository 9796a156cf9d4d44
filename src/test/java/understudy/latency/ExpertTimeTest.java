package understudy.latency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static understudy.latency.RooflineFixture.GPU;
import static understudy.latency.RooflineFixture.experts;

import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import understudy.latency.GpuSpec.ExpertKernels;
import understudy.latency.GpuSpec.Experts;
import understudy.latency.Parallelism.All2AllBackend;

/** Eight experts of 10 x 4, two for a token, at 1 KB/us; arithmetic takes no time to speak of. */
final class ExpertTimeTest {
    private static final double EXACT = 1e-4;

    /** Products at half of the bandwidth, the rest at a quarter; 3 us and half a microsecond for each expert. */
    private static final ExpertKernels KERNELS = new ExpertKernels(1e6, 0.5, 0.25, 0, 3, 0.5);

    /** The same with 5 us. */
    private static final ExpertKernels EXPERT_PARALLEL = new ExpertKernels(1e6, 0.5, 0.25, 0, 5, 0.5);

    /** Of the same bytes on the busier of two GPUs, by the formula of {@link ExpertLoad#imbalance}. */
    private static final double IMBALANCE = 1 + 0.56 * 2 * Math.sqrt(1 / 8.0);

    @Test
    void oneGpu_computesAllExperts() {
        // One token reads 2 experts of (8 x 10 + 10 x 4) x 2 = 240 bytes, and 2 x 2 (18 + 14) = 128 bytes in and out,
        // at
        // 500 bytes per us. Activation 2 x 3 x 4 x 2 = 48 and sum (2 + 1) x 10 x 2 = 60 bytes, at 250 bytes per us.
        assertThat(time(Parallelism.ofTensors(1)).micros(1))
                .isCloseTo(3 + 8 * 0.5 + (480 + 128) / 500.0 + (48 + 60) / 250.0, within(EXACT));
    }

    @Test
    void sliceOfEachExpert_hasItsShareOfTheActivation() {
        // Half of the weights, 240 bytes; in and out 2 x 2 (14 + 12) = 104; activation 24, but the whole sum.
        assertThat(time(Parallelism.ofTensors(2)).micros(1))
                .isCloseTo(3 + 8 * 0.5 + (240 + 104) / 500.0 + (24 + 60) / 250.0, within(EXACT));
    }

    @Test
    void expertParallelism_leavesTheRowsOfOtherGpusInPlace() {
        // Half of 2 experts; half of 128 bytes, more on the busier GPU; activation and sum of all rows. 5 us, not 3.
        assertThat(time(new Parallelism(1, 2, true, All2AllBackend.ALLGATHER_REDUCESCATTER))
                        .micros(1))
                .isCloseTo(5 + 8 * 0.5 + (240 + IMBALANCE * 64) / 500.0 + (48 + 60) / 250.0, within(EXACT));
    }

    @Test
    void tokensSentToTheirExpertsAlone_haveNoOtherRows() {
        // Activation 24 and reading for the sum 20 bytes, more on the busier GPU; its results are 20 bytes.
        assertThat(time(new Parallelism(1, 2, true, All2AllBackend.DEEPEP_LOW_LATENCY))
                        .micros(1))
                .isCloseTo(5 + 8 * 0.5 + (240 + IMBALANCE * 64) / 500.0 + (IMBALANCE * 44 + 20) / 250.0, within(EXACT));
    }

    private static ExpertTime time(Parallelism parallelism) {
        var gpu = GPU.withExperts(new Experts(all(KERNELS), all(EXPERT_PARALLEL), 0, 0));
        return new ExpertTime(experts(), gpu, parallelism);
    }

    private static Map<WeightFormat, ExpertKernels> all(ExpertKernels kernels) {
        var all = new EnumMap<WeightFormat, ExpertKernels>(WeightFormat.class);
        all.put(experts().expertWeights(), kernels);
        return all;
    }
}
