package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static understudy.app.CommandLineFixture.call;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.regex.Pattern;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.scenario.ScenarioFile;

/**
 * What roseinfer's author measured on a CPU, before and after batching the prefill, against the two scenarios. They share
 * one file with the device's three numbers.
 */
final class RoseinferRunTest {
    private static final Pattern NUMBER = Pattern.compile("[0-9.]+");
    private static final String BEFORE = "conf/roseinfer/before.conf";
    private static final String AFTER = "conf/roseinfer/after.conf";

    @ParameterizedTest
    @CsvSource({
        BEFORE + ", ttft,  418.48,  798.66,  798.77",
        BEFORE + ", tpot,  140.64,  161.01,  165.49",
        BEFORE + ", itl,   107.39,  270.98,  400.98",
        BEFORE + ", e2el, 1415.70, 1478.94, 1479.14",
        AFTER + ",  ttft,  143.41,  260.17,  260.26",
        AFTER + ",  tpot,  100.38,  102.51,  106.35",
        AFTER + ",  itl,   101.38,  126.63,  150.47",
        AFTER + ",  e2el,  862.18,  927.23,  927.38",
    })
    void latencies_areAsMeasured(String scenario, String name, double p50, double p95, double p99) throws IOException {
        var json = json(scenario);

        var tolerance = Percentage.withPercentage(5);
        assertThat(json.get("median_" + name + "_ms").asDouble()).isCloseTo(p50, tolerance);
        assertThat(json.get("p95_" + name + "_ms").asDouble()).isCloseTo(p95, tolerance);
        assertThat(json.get("p99_" + name + "_ms").asDouble()).isCloseTo(p99, tolerance);
    }

    @ParameterizedTest
    @CsvSource({BEFORE + ", 163.84, 0.084512, 54.01", AFTER + ", 253.68, 0.082502, 52.72"})
    void printedBlock_hasThroughputAndSubmitTimesAsMeasured(
            String scenario, double tokensPerSecond, double submitSeconds, double addRequestP99Millis) {
        var run = call("run", scenario);

        assertThat(run.exitCode).as(run.err).isZero();
        assertThat(run.out)
                .contains("Serving Benchmark Result")
                .contains("\n=== streaming benchmark ===\nRequests: 32\nPrompt tokens (total): 128\n")
                .contains("Completion tokens (total): 256\n");
        var fivePercent = Percentage.withPercentage(5);
        assertThat(figures(run.out, "Throughput")[0]).isCloseTo(tokensPerSecond, fivePercent);
        assertThat(figures(run.out, "Submit wall")[0]).isCloseTo(submitSeconds, fivePercent);
        // The other two percentiles are draws from a distribution with the measured ones.
        assertThat(figures(run.out, "add_request latency")[2]).isCloseTo(addRequestP99Millis, fivePercent);
        assertThat(figures(run.out, "add_request latency")[0]).isCloseTo(0.05, within(0.03));
    }

    @Test
    void bothScenarios_haveTheSameDevice() {
        var scenarios = new ScenarioFile(Map.of());

        assertThat(scenarios.load(BEFORE, Map.of()).section("latency").values())
                .isEqualTo(scenarios.load(AFTER, Map.of()).section("latency").values());
    }

    @Test
    void batchingMisses_isOneForwardPerRound() throws IOException {
        // 1, 8, 8, 8 and 7 requests are taken in: 5 forwards instead of 32. The 32 * 7 further tokens are decoded one
        // in the
        // first round, which has a single session, and then 223 in 28 steps of 8 or fewer.
        assertThat(steps(BEFORE)).isEqualTo(32 + 29);
        assertThat(steps(AFTER)).isEqualTo(5 + 29);
    }

    @Test
    void equalPrompts_areComputedOnceAndAreFasterThanWithoutDedup() throws IOException {
        // Handed over all at once, so that the first round takes in eight.
        String[] equal = {
            "workload.burst.distinct-prompts=1",
            "workload.burst.first-submit=0ms",
            "workload.burst.submit.mean=0ms",
            "workload.burst.submit.stddev=0ms",
            "workload.burst.submit.kind=fixed",
            "workload.burst.pause=0ms"
        };
        var deduplicated = json(AFTER, equal);
        String[] computing = Arrays.copyOf(equal, equal.length + 1);
        computing[equal.length] = "engine.dedup=off";
        var computed = json(AFTER, computing);

        // 31 of 32 prompts of 4 tokens are found; without dedup the first round computes all of its eight.
        assertThat(deduplicated.get("prefix_cache_hits").asInt()).isEqualTo(31 * 4);
        assertThat(computed.get("prefix_cache_hits").asInt()).isEqualTo(24 * 4);
        assertThat(deduplicated.get("p99_ttft_ms").asDouble())
                .isLessThan(computed.get("p99_ttft_ms").asDouble());
    }

    private static JsonNode json(String scenario, String... settings) throws IOException {
        var args = new String[4 + 2 * settings.length];
        args[0] = "run";
        args[1] = scenario;
        args[2] = "--json";
        args[3] = "-";
        for (int i = 0; i < settings.length; i++) {
            args[4 + 2 * i] = "--set";
            args[5 + 2 * i] = settings[i];
        }
        var run = call(args);
        assertThat(run.exitCode).as(run.err).isZero();
        return run.json();
    }

    private static int steps(String scenario) throws IOException {
        return json(scenario).get("per_replica").get(0).get("steps").asInt();
    }

    /** Returns the numbers of the line that begins so, behind its colon. */
    private static double[] figures(String out, String begin) {
        String line = out.lines()
                .filter(l -> l.startsWith(begin))
                .reduce((first, last) -> last)
                .orElseThrow();
        return NUMBER.matcher(line.substring(line.lastIndexOf(':')))
                .results()
                .mapToDouble(number -> Double.parseDouble(number.group()))
                .toArray();
    }
}
