package understudy.latency;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * 100 us of each step, 10 us of each sequence, and 20 us to launch a kernel that is in no graph; a layer has ten of them, as in
 * {@link LaunchedKernelsTest}.
 */
final class HostOverheadTest {
    private static final LaunchedKernels KERNELS =
            new LaunchedKernels(RooflineFixture.dense(), Parallelism.ofTensors(1), StepExecution.VLLM);

    @Test
    void workThatIsNotHidden_isAdded() {
        var host = host(256, false);

        // Two sequences: 100 + 2 x 10 us.
        assertThat(host.microsBeyond(1000, decodes(), KERNELS)).isEqualTo(120);
    }

    @Test
    void hiddenWork_countsWhereItIsLongerThanTheKernels() {
        var host = host(256, true);

        assertThat(host.microsBeyond(1000, decodes(), KERNELS)).isZero();
        assertThat(host.microsBeyond(50, decodes(), KERNELS)).isEqualTo(120 - 50);
    }

    @Test
    void stepWithoutGraph_takesAtLeastItsLaunches() {
        // No graph is that large: 10 x 20 us of launches beside 150 us of kernels, and 120 us of host.
        assertThat(host(1, false).microsBeyond(150, decodes(), KERNELS)).isEqualTo(200 - 150 + 120);
        assertThat(host(1, true).microsBeyond(150, decodes(), KERNELS)).isEqualTo(200 - 150);
        assertThat(host(1, true).microsBeyond(1000, decodes(), KERNELS)).isZero();
    }

    private static HostOverhead host(int maxGraph, boolean isHidden) {
        return new HostOverhead(
                100, 10, new StepExecution("engine", "engine", CudaGraphs.ofDecodes(maxGraph), 20, 0, isHidden, false));
    }

    private static BatchShape decodes() {
        var batch = new BatchShape.Builder();
        batch.add(1, 100, true);
        batch.add(1, 100, true);
        return batch.build();
    }
}
