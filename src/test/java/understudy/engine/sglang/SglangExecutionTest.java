package understudy.engine.sglang;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.testkit.EmulatedCluster;

/** What SGLang pays for a step beside its kernels. */
final class SglangExecutionTest {
    /** GPT-2 has 12 layers of ten kernels: 60 ms of launches; they run for less than 5 ms. */
    private static final String SETTINGS = """
        engine.kind = sglang
        engine.sglang { launch-per-kernel = 500us, host-per-step = 20ms }
        latency { model = roofline, llm = gpt2, gpu = h100 }
        """;

    /**
     * 100 tokens take 4 ms and 100 x 5 us to the queue. The prefill is in no graph, and takes its launches; the decode is
     * in one, and takes the host's 20 ms and 10 us for its sequence. Without overlap these come on top.
     */
    @ParameterizedTest
    @CsvSource({
        "'', 64_500_000, 84_510_000",
        "engine.sglang.disable-cuda-graph = true, 64_500_000, 124_500_000",
        "'engine.sglang { disable-cuda-graph = true, disable-overlap-schedule = true }', 84_510_000, 164_520_000"
    })
    void step_waitsForItsLaunchesOrTheHost(String settings, long first, long second) {
        try (var cluster = EmulatedCluster.startPaused(SETTINGS + settings)) {
            var request = cluster.submit(100, 2);
            cluster.advance(Duration.ofSeconds(1));

            assertThat(request.tokenNanos()).containsExactly(first, second);
        }
    }

    /** Three decodes are more than the largest graph, and wait for their launches; the host's 20 ms are less. */
    @Test
    void decodesBeyondTheLimit_areInNoGraph() {
        try (var cluster = EmulatedCluster.startPaused(SETTINGS + "engine.sglang.cuda-graph-max-bs = 2")) {
            var request = cluster.submit(100, 5);
            cluster.submit(100, 5);
            cluster.submit(100, 5);
            cluster.advance(Duration.ofSeconds(1));

            var tokens = request.tokenNanos();
            assertThat(tokens.get(4) - tokens.get(3)).isEqualTo(60_000_000);
        }
    }

    /** GB of the table in SGLang's server_args.py; an H200 says 140.4 GiB, and nothing is taken for an H100. */
    @ParameterizedTest
    @CsvSource({
        "16, 1, 8",
        "23.5, 1, 24",
        "23.5, 4, 80",
        "44.4, 2, 32",
        "44.4, 8, 160",
        "79.2, 1, 256",
        "140.4, 4, 512",
        "179, 1, 512",
        "0, 1, 256"
    })
    void graphs_goByTheMemory(double memoryGib, int tensorParallelSize, int maxBatchSize) {
        assertThat(GpuSize.of(memoryGib).maxGraphBatch(tensorParallelSize)).isEqualTo(maxBatchSize);
    }
}
