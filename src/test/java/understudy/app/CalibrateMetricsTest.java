package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.settings.Hocon;
import understudy.settings.Section;

/** Calibration by two scrapes of a loaded server. */
final class CalibrateMetricsTest {
    private static final String EMPTY = """
            vllm:iteration_tokens_total_count{engine="0"} 0
            vllm:inter_token_latency_seconds_sum{engine="0"} 0
            """;

    @TempDir
    private Path directory;

    /**
     * 1000 steps with 8 decodes each, 100 of them with a prompt of 500 tokens behind 100 cached ones. Contexts are 600 tokens
     * and half of 80, which is 640. A generic device takes hypot(6.5, 0.184) + 8 * 641 * 46e-6 = 6.7385 ms for decodes alone;
     * with 500 tokens, which are 500 * 100 + 500^2 / 2 = 175,000 pairs, hypot(6.5, 508 * 0.023 = 11.684) + 8 * 641 * 56e-6 +
     * 175,000 * 0.9e-6 = 13.8150 ms. The mean is 7.4462 ms; measured are 14.8923 ms, twice as much.
     */
    @Test
    void pace_isThatOfTheMeanStep() throws IOException {
        var out = directory.resolve("out.conf");

        var run = call(
                "calibrate",
                "--from-metrics",
                write("before.txt", EMPTY),
                write("after.txt", vllm(0.0148923 * 8000)),
                "--out",
                out.toString());

        assertThat(run.exitCode).as(run.err).isZero();
        assertThat(run.out)
                .contains("1000 steps, 8.0 decodes of 640 tokens in the mean, a prompt of 500 tokens in 10.0 % of them")
                .contains("2.000 times as long as a generic device takes");
        assertThat(run.err).startsWith("warning: two scrapes tell one number");
        Section latency = Hocon.file(out).section("latency");
        assertThat(latency.section("profile").nanos("weights")).isCloseTo(13e6, Percentage.withPercentage(0.01));
        // 60 ms to first tokens, of which 20 are queue and 35 prefill.
        assertThat(latency.nanos("api-delay")).isCloseTo(5e6, Percentage.withPercentage(0.01));
        assertThat(call("run", out.toString(), "--explain-step", "1x1@30").exitCode)
                .isZero();
    }

    /** Generic: 6.7385 ms for 8 decodes, and between a tenth of them a prompt alone: hypot(6.5, 11.5) + 0.1575 = 13.3672 ms. */
    @Test
    void prefillsOfSglang_comeBetweenSteps() throws IOException {
        double meanSeconds = 3 * (6.7385 + 0.1 * 13.3672) / 1e3;
        String running = "sglang:num_running_reqs{dp_rank=\"0\"} 8\n";

        var run = call(
                "calibrate",
                "--from-metrics",
                write("before.txt", running),
                write("after.txt", running + """
                        sglang:inter_token_latency_seconds_sum %s
                        sglang:inter_token_latency_seconds_count 8000
                        sglang:time_to_first_token_seconds_sum 6
                        sglang:time_to_first_token_seconds_count 100
                        sglang:prompt_tokens_total 60000
                        sglang:cached_tokens_total 10000
                        sglang:generation_tokens_total 8000
                        """.formatted(meanSeconds * 8000)));

        assertThat(run.exitCode).as(run.err).isZero();
        assertThat(run.out).contains("3.000 times as long").doesNotContain("api-delay");
        assertThat(run.err).contains("the delay before a first step is not told");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "vllm:generation_tokens_total 8000|vllm:generation_tokens_total 100|"
                        + "8000 times between tokens, but vllm:generation_tokens_total rose by 100 only",
                "vllm:iteration_tokens_total_count{engine=\"0\"} 1000||has no vllm:iteration_tokens_total",
                "vllm:inter_token_latency_seconds_count 8000|vllm:inter_token_latency_seconds_count 0|"
                        + "vllm:inter_token_latency_seconds has observed nothing since"
            })
    void metricsThatDoNotDo_areOneClearLine(String line, String instead, String problem) throws IOException {
        String after = vllm(100).replace(line + "\n", instead == null ? "" : instead + "\n");

        var run = call("calibrate", "--from-metrics", write("before.txt", EMPTY), write("after.txt", after));

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err.lines()).hasSize(1);
        assertThat(run.err).startsWith(directory.resolve("after.txt") + ": ").contains(problem);
    }

    @Test
    void pagesThatDoNotBelongTogether_areOneClearLine() throws IOException {
        String vllm = write("vllm.txt", vllm(100));
        String sglang = write("sglang.txt", "sglang:num_running_reqs 1\n");

        assertThat(call("calibrate", "--from-metrics", sglang, vllm).err)
                .isEqualTo(sglang + ": metrics of SGLang, but " + vllm + " has those of vLLM\n");
        assertThat(call("calibrate", "--from-metrics", vllm, write("less.txt", vllm(50))).err)
                .contains("less.txt: vllm:inter_token_latency_seconds_sum is lower than in", "started anew");
        assertThat(call("calibrate", "--from-metrics", "nowhere.txt", vllm).err)
                .isEqualTo("nowhere.txt: no such file\n");
    }

    private static String vllm(double gapSeconds) {
        return """
                vllm:iteration_tokens_total_count{engine="0"} 1000
                vllm:iteration_tokens_total_sum{engine="0"} 68100
                vllm:inter_token_latency_seconds_sum %s
                vllm:inter_token_latency_seconds_count 8000
                vllm:time_to_first_token_seconds_sum 6
                vllm:time_to_first_token_seconds_count 100
                vllm:request_queue_time_seconds_sum 2
                vllm:request_queue_time_seconds_count 100
                vllm:request_prefill_time_seconds_sum 3.5
                vllm:request_prefill_time_seconds_count 100
                vllm:prompt_tokens_total 60000
                vllm:prompt_tokens_cached_total 10000
                vllm:generation_tokens_total 8000
                """.formatted(gapSeconds);
    }

    private String write(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text).toString();
    }
}
