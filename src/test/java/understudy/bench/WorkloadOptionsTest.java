package understudy.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import understudy.settings.ScenarioException;

final class WorkloadOptionsTest {

    @Test
    void withoutScenario_vllmsDefaultsHold() {
        assertThat(options().settings(false))
                .containsEntry("workload.kind", "generated")
                .containsEntry("workload.requests", "1000")
                .containsEntry("workload.arrivals.request-rate", "inf")
                .containsEntry("workload.lengths.prompt.max", "1024")
                .containsEntry("workload.lengths.output.max", "128");
        assertThat(options().settings(true)).isEmpty();
    }

    /** Half of 31 less is 15.5, and half more 46.5. */
    @Test
    void rangeOfLengths_isRoundedOutwards() {
        assertThat(options("--input-len=31", "--random-range-ratio=0.5").settings(false))
                .containsEntry("workload.lengths.prompt.min", "15")
                .containsEntry("workload.lengths.prompt.max", "47");
    }

    @Test
    void numberOfRequests_isThatOfAScenariosTrace_too() {
        assertThat(options("--num-prompts=7").settings(true))
                .containsOnlyKeys("workload.requests", "workload.limit")
                .containsValue("7");
    }

    @Test
    void pace_isThatOfTheScenariosArrivals() {
        assertThat(options("--burstiness=0.5", "--max-concurrency=3").settings(true))
                .containsEntry("workload.arrivals.kind", "gamma")
                .containsEntry("workload.arrivals.burstiness", "0.5")
                .containsEntry("workload.max-concurrency", "3");
        assertThat(options("--ramp-up-strategy=linear", "--ramp-up-start-rps=1", "--ramp-up-end-rps=9")
                        .settings(true))
                .containsEntry("workload.arrivals.ramp-up.strategy", "linear")
                .containsEntry("workload.arrivals.ramp-up.start-rps", "1")
                .containsEntry("workload.arrivals.ramp-up.end-rps", "9");
    }

    /** As vLLM does it with its data sets; a scenario says itself. */
    @Test
    void gaps_areScaledForVllmsDataSets() {
        String key = "workload.arrivals.scale-gaps";
        assertThat(options().settings(false)).containsEntry(key, "true");
        assertThat(options("--dataset-name=sharegpt").settings(true)).containsEntry(key, "true");
        assertThat(options("--no-scale-gaps").settings(false)).containsEntry(key, "false");
        assertThat(options("--request-rate=3").settings(true)).doesNotContainKey(key);
        assertThat(options("--scale-gaps").settings(true)).containsEntry(key, "true");
    }

    @Test
    void prefixRepetition_needsARequestForEachPrefix() {
        var options = options("--dataset-name=prefix_repetition", "--num-prompts=9");

        assertThatThrownBy(() -> options.settings(false))
                .isInstanceOf(ScenarioException.class)
                .hasMessageStartingWith("--num-prompts 9: must be at least the number of prefixes, 10");
    }

    private static WorkloadOptions options(String... arguments) {
        var options = new WorkloadOptions();
        new CommandLine(options).setCaseInsensitiveEnumValuesAllowed(true).parseArgs(arguments);
        return options;
    }
}
