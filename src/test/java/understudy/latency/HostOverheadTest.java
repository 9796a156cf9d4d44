package understudy.latency;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** 100 us of each step, 10 us of each sequence, and 50 us to launch a layer that is in no graph; 4 layers. */
final class HostOverheadTest {
    private static final int NUM_LAYERS = 4;

    @Test
    void workThatIsNotHidden_isAdded() {
        var host = host(256, false);

        // Two sequences: 100 + 2 x 10 us.
        assertThat(host.microsBeyond(1000, decodes(), NUM_LAYERS)).isEqualTo(120);
    }

    @Test
    void hiddenWork_countsWhereItIsLongerThanTheKernels() {
        var host = host(256, true);

        assertThat(host.microsBeyond(1000, decodes(), NUM_LAYERS)).isZero();
        assertThat(host.microsBeyond(50, decodes(), NUM_LAYERS)).isEqualTo(120 - 50);
    }

    @Test
    void stepWithoutGraph_takesAtLeastItsLaunches() {
        // No graph is that large: 4 x 50 us of launches beside 150 us of kernels, and 120 us of host.
        assertThat(host(1, false).microsBeyond(150, decodes(), NUM_LAYERS)).isEqualTo(200 - 150 + 120);
        assertThat(host(1, true).microsBeyond(150, decodes(), NUM_LAYERS)).isEqualTo(200 - 150);
        assertThat(host(1, true).microsBeyond(1000, decodes(), NUM_LAYERS)).isZero();
    }

    private static HostOverhead host(int maxGraph, boolean isHidden) {
        return new HostOverhead(
                100, 10, new StepExecution("engine", "engine", CudaGraphs.ofDecodes(maxGraph), 50, 0, isHidden, false));
    }

    private static BatchShape decodes() {
        var batch = new BatchShape.Builder();
        batch.add(1, 100, true);
        batch.add(1, 100, true);
        return batch.build();
    }
}
