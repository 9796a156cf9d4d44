package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.scenario.SpecFiles;
import understudy.settings.Section;

/** A device whose numbers are known is run in virtual time, and found again in when the tokens came. */
final class CalibrateRunTest {
    private static final String SCENARIO = """
        latency {
          model = profile
          profile {
            weights = 9ms, per-token = 30us, per-kv-token = 60ns, per-attention-pair = 1.5ns
            per-mixed-kv-token = 20ns
          }
        }
        kv-cache { enable-prefix-caching = false, num-gpu-blocks = 60000 }
        workload {
          kind = generated
          requests = 400
          arrivals.request-rate = 6
          lengths {
            prompt { kind = uniform, min = 20, max = 6000 }
            output { kind = uniform, min = 20, max = 400 }
          }
        }
        """;

    @TempDir
    private Path directory;

    /**
     * The simplex stops when the mean square of the logarithms changes by less than 1e-10, which is 1e-5 of a step's time.
     * Each number makes up a hundredth of the steps' times or more, so it is found to a thousandth of itself.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aWholeRun_givesTheFiveNumbers(boolean isAsync) throws IOException {
        var run = calibrate("--set", "engine.async-scheduling=" + isAsync);

        assertThat(run.exitCode).as(run.err).isZero();
        assertThat(run.err).isEmpty();
        assertThat(run.out).contains(" steps are known, median error 0.0 %, p90 0.0 %");
        var profile = device().section("profile");
        assertThat(profile.nanos("weights")).isCloseTo(9e6, Percentage.withPercentage(0.1));
        assertThat(profile.nanos("per-token")).isCloseTo(30e3, Percentage.withPercentage(0.1));
        assertThat(profile.nanos("per-kv-token")).isCloseTo(60, Percentage.withPercentage(0.1));
        assertThat(profile.nanos("per-attention-pair")).isCloseTo(1.5, Percentage.withPercentage(0.1));
        assertThat(profile.nanos("per-mixed-kv-token")).isCloseTo(20, Percentage.withPercentage(0.1));
        assertThat(device().text("status")).isEqualTo("fitted");
    }

    /** Steps that are each off by 5 % or so: half of them by 0.67 standard deviations, which is 3.4 %. */
    @Test
    void noise_isInTheErrorsMoreThanInTheNumbers() throws IOException {
        var run = calibrate("--set", "latency.jitter=0.05");

        assertThat(run.out).containsPattern("median error 3\\.[2-7] %, p90 8\\.\\d %");
        var profile = device().section("profile");
        assertThat(profile.nanos("weights")).isCloseTo(9e6, Percentage.withPercentage(2));
        assertThat(profile.nanos("per-kv-token")).isCloseTo(60, Percentage.withPercentage(5));
    }

    /**
     * One client: a step has one token, which costs 9.05e-6 of the weights. Generic numbers are 6.5 ms, 23 us and so on, all
     * times what the usual step takes (9 ms and 1000 * 60 ns or more) by what it would take there: about 1.39.
     */
    @Test
    void aRunOfOneClient_doesNotTellWhatTokensCost() throws IOException {
        var run = calibrate("--set", "workload.max-concurrency=1", "--set", "workload.requests=30");

        assertThat(run.err)
                .isEqualTo(
                        "warning: these steps do not tell per-token, per-attention-pair, per-mixed-kv-token; taken from"
                                + " a generic device of the same speed\n");
        var profile = device().section("profile");
        assertThat(profile.nanos("weights")).isCloseTo(9e6, Percentage.withPercentage(0.1));
        assertThat(profile.nanos("per-kv-token")).isCloseTo(60, Percentage.withPercentage(1));
        assertThat(profile.nanos("per-attention-pair")).isCloseTo(0.9 * 1.39, Percentage.withPercentage(2));
        assertThat(device().texts("assumed")).contains("per-token", "per-attention-pair", "per-mixed-kv-token");
    }

    @Test
    void shortPrompts_doNotTellWhatPairsCost() throws IOException {
        // 50 tokens are 1,250 pairs or 2 us, of steps of 9 ms; and their 1.5 ms of linear layers is lost in the root.
        var run = calibrate(
                "--set", "workload.arrivals.request-rate=20",
                "--set", "workload.lengths.prompt.max=50");

        assertThat(run.err).contains("these steps do not tell per-attention-pair", "too little to tell per-token, ");
    }

    @Test
    void severalReplicas_areNoticed() throws IOException {
        assertThat(calibrate("--set", "cluster.replicas=2").err).contains("warning: most steps are in doubt");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{} | has no times of tokens; save it with --save-detailed",
                "{\"input_lens\": [5], \"output_lens\": [9], \"start_times\": [0], \"ttfts\": [1], \"itls\": [[1, 1]]}"
                        + " | has 9 tokens in 3 chunks; steps show only if each chunk has one token",
                "{\"input_lens\": [5], \"output_lens\": [1], \"start_times\": [0], \"ttfts\": [1], \"itls\": [[]]} |"
                        + " no two bursts of tokens in a row have the same requests",
                "{ | not JSON"
            })
    void runsThatDoNotDo_areOneClearLine(String json, String problem) throws IOException {
        String file = Files.writeString(directory.resolve("bad.json"), json).toString();

        var run = call("calibrate", file);

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err.lines()).hasSize(1);
        assertThat(run.err).startsWith(file + ": " + problem);
    }

    private CommandLineFixture calibrate(String... settings) throws IOException {
        String scenario =
                Files.writeString(directory.resolve("run.conf"), SCENARIO).toString();
        String result = directory.resolve("result.json").toString();
        var args = new ArrayList<>(List.of("run", scenario, "--save-detailed", "--json", result));
        args.addAll(List.of(settings));
        var run = call(args.toArray(String[]::new));
        assertThat(run.exitCode).as(run.err).isZero();
        return call(
                "calibrate", result, "--out", directory.resolve("device.conf").toString());
    }

    private Section device() {
        return SpecFiles.GPUS.read(directory.resolve("device.conf"));
    }
}
