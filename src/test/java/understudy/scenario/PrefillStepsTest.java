package understudy.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import understudy.latency.LinearLatency;
import understudy.routing.ReplicaTraits;
import understudy.settings.Section;

/** Prefill times that routers are told. */
final class PrefillStepsTest {
    private static final LinearLatency LINEAR = new LinearLatency(1_000_000, 10_000, 0, 0);

    @Test
    void prompt_isComputedInChunks() {
        var prefill = new ReplicaGroup.PrefillSteps(LINEAR, 8_192);

        // 8,192 and 1,808 tokens: two steps of 1 ms, and 10,000 times 10 us.
        assertThat(prefill.nanos(10_000, 0)).isEqualTo(102_000_000);
        // 1,000 tokens in one step.
        assertThat(prefill.nanos(10_000, 9_000)).isEqualTo(11_000_000);
        assertThat(prefill.nanos(8_192, 0)).isEqualTo(1_000_000 + 81_920_000);
    }

    @Test
    void chunk_attendsToWhatIsBeforeIt() {
        // A nanosecond for each token before the chunk.
        var prefill = new ReplicaGroup.PrefillSteps(batch -> 1 + batch.chunkContextTokens(0), 100);

        // Chunks at 40, 140 and 240.
        assertThat(prefill.nanos(300, 40)).isEqualTo(3 + 40 + 140 + 240);
    }

    @Test
    void chunk_mayBeLargerThanAnyPrompt() {
        assertThat(new ReplicaGroup.PrefillSteps(LINEAR, Integer.MAX_VALUE).nanos(100, 50))
                .isEqualTo(1_500_000);
    }

    @Test
    void scenario_saysHowLongPromptsTake() {
        // 23 us per token, and 6.5 ms per step: 2 steps of at most 8192 tokens, or 10 of 1,000.
        assertThat(traits("").prefillNanos(10_000, 0)).isEqualTo(230_000_000 + 2 * 6_500_000);
        assertThat(traits("engine.long-prefill-token-threshold = 1000").prefillNanos(10_000, 0))
                .isEqualTo(230_000_000 + 10 * 6_500_000);
        assertThat(traits("kv-cache.num-gpu-blocks = 700").numGpuBlocks()).isEqualTo(700);
    }

    private static ReplicaTraits traits(String settings) {
        var scenario =
                Scenario.read(new ScenarioFile(Map.of()).load(Section.of("latency.model = linear, " + settings)));
        return scenario.clusterSpec(null, true).replica(0).traits();
    }
}
