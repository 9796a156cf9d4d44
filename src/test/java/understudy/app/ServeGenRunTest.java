package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import understudy.TestData;

/** A production day on the replicas that an autoscaler keeps. */
final class ServeGenRunTest {
    @TempDir
    private Path directory;

    @Test
    void smallService_isRunWithItsLoadOverTime() throws IOException {
        // 0.5 and 1 per second for 600 s each, which is 900 requests.
        Files.writeString(directory.resolve("chunk-0-trace.csv"), "0,0.5,2,Gamma,0.25,8\n600,1,1,Weibull,1,1\n");
        Files.writeString(
                directory.resolve("chunk-0-dataset.json"),
                "{\"0\": {\"input_tokens\": \"{100: 1.0}\", \"output_tokens\": \"{50: 1.0}\"}}");
        var page = directory.resolve("day.html");

        var run = run("workload.trace=" + directory, "--html", page.toString(), "--json", "-");

        assertThat(run.exitCode).as(run.err).isZero();
        assertThat(run.json().get("completed").asLong()).isEqualTo(900);
        assertThat(run.json().get("total_output_tokens").asLong()).isEqualTo(45_000);
        assertThat(page).content().contains("\"arrivals_per_s\":{\"xs\":[", "\"ttft\":{\"distribution\":{\"xs\":[");
    }

    /** The busiest hours of the day with a quarter of its requests, so that it is soon over. */
    @Test
    void partOfTheDay_keepsItsPromise() throws IOException {
        var archive = TestData.require("servegen/deepseek-r1.tar.gz");

        var run = run(
                "workload.trace=" + archive,
                "--set",
                "workload.servegen.start=1h",
                "--set",
                "workload.servegen.duration=3h",
                "--set",
                "workload.servegen.rate-scale=0.25",
                "--json",
                "-");

        assertThat(run.exitCode).as(run.err).isZero();
        assertThat(run.json().get("failed").asLong()).isZero();
        assertThat(run.json().get("p99_ttft_ms").asDouble()).isLessThan(5000);
    }

    @Test
    void missingService_isReported() {
        assertThat(run("workload.trace=").err).contains("workload.trace is \"\", but servegen needs a directory");
        assertThat(run("workload.servegen.services=[{ path = nowhere }]").err)
                .contains("workload.servegen.services.0.path is \"nowhere\", which does not exist");
        assertThat(run("workload.servegen.start=1500ms").err).contains("must be whole seconds of at least 0");
    }

    private static CommandLineFixture run(String setting, String... more) {
        var args = new ArrayList<>(List.of("run", "conf/servegen.conf", "--set", setting));
        args.addAll(List.of(more));
        return call(args.toArray(String[]::new));
    }
}
