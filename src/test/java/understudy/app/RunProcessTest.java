package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What only a process of its own shows: exit codes, streams, and Ctrl-C. */
final class RunProcessTest {
    @TempDir
    private Path directory;

    @Test
    void interrupt_printsAPartialReport() throws IOException, InterruptedException {
        ProcessFixture.requireSignals();
        // Everything arrives at once, and takes minutes of virtual time at wall-clock pace: it cannot end by itself.
        try (var run = start(
                "run",
                "conf/demo.conf",
                "--log-level=INFO",
                "--set",
                "clock.speed=1",
                "--set",
                "workload.requests=100000",
                "--set",
                "workload.arrivals.request-rate=inf")) {
            // A signal before the run has started would only end the JVM.
            run.awaitErr("the run has started", 1);
            run.interrupt();

            assertThat(run.exitCode()).isEqualTo(ProcessFixture.DIES_OF_SIGINT);
            assertThat(run.out()).contains("Serving Benchmark Result (partial)");
        }
    }

    @Test
    void redirectedStderr_getsNoProgress() throws InterruptedException {
        try (var run = start("run", "conf/demo.conf", "--set", "workload.requests=200", "--json", "-")) {
            assertThat(run.exitCode()).isZero();
            assertThat(run.err()).isEmpty();
            assertThat(run.out()).startsWith("{").endsWith("}\n");
        }
    }

    @Test
    void badInput_exitsWithTwo() throws InterruptedException {
        try (var run = start("run", "nowhere.conf")) {
            assertThat(run.exitCode()).isEqualTo(2);
            assertThat(run.err()).isEqualTo("nowhere.conf: no such file\n");
        }
    }

    /** A name without a folder is of the current one, and so is what it includes. */
    @Test
    void scenarioOfTheCurrentFolder_includesAnotherOne() throws IOException, InterruptedException {
        Files.writeString(directory.resolve("base.conf"), "workload { requests = 7, arrivals.request-rate = 10 }");
        Files.writeString(directory.resolve("a.conf"), "include \"base.conf\"");
        try (var run = startInDirectory("run", "a.conf", "--json", "-")) {
            assertThat(run.exitCode()).isZero();
            assertThat(run.out()).contains("\"completed\" : 7");
        }
    }

    @Test
    void includeThatIsNotThere_exitsWithTwo() throws IOException, InterruptedException {
        Files.writeString(directory.resolve("a.conf"), "seed = 1\ninclude \"base.conf\"");
        try (var run = startInDirectory("run", "a.conf")) {
            assertThat(run.exitCode()).isEqualTo(2);
            assertThat(run.err()).isEqualTo("a.conf:2: include \"base.conf\": no such file: base.conf\n");
        }
    }

    @Test
    void traceThatBreaksOffLater_endsTheProcessAtOnce() throws IOException, InterruptedException {
        String good = "{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 5, \"hash_ids\": [1]}\n";
        traceThatBreaksOff(good, 20);
        // The second row is read while the load begins, which is another case.
        traceThatBreaksOff(good, 1);
    }

    private void traceThatBreaksOff(String good, int numGood) throws IOException, InterruptedException {
        var trace = Files.writeString(directory.resolve("trace.jsonl"), good.repeat(numGood) + "nonsense\n");
        try (var run =
                start("run", "conf/demo.conf", "--set", "workload.kind=mooncake", "--set", "workload.trace=" + trace)) {
            assertThat(run.exitCode()).isEqualTo(2);
            assertThat(run.err())
                    .startsWith(trace + ":" + (numGood + 1) + ": not JSON")
                    .doesNotContain("giving up");
        }
    }

    private ProcessFixture start(String... args) {
        return ProcessFixture.start(directory, args);
    }

    private ProcessFixture startInDirectory(String... args) {
        return ProcessFixture.start(
                directory, "process", ProcessFixture.command(args).directory(directory.toFile()));
    }
}
