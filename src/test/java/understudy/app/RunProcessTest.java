package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What only a process of its own shows: exit codes, streams, and Ctrl-C. */
final class RunProcessTest {
    private static final Path KILL = Path.of("/bin/kill");
    private static final int DIES_OF_SIGINT = 130;

    @TempDir
    private Path directory;

    @Test
    void interrupt_printsAPartialReport() throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(KILL), "there is no " + KILL + " to send a signal with");
        // Everything arrives at once, and takes minutes of virtual time at wall-clock pace: it cannot end by itself.
        var process = start(
                "run",
                "conf/demo.conf",
                "--log-level=INFO",
                "--set",
                "clock.speed=1",
                "--set",
                "workload.requests=100000",
                "--set",
                "workload.arrivals.request-rate=inf");
        try {
            awaitStart(process);
            new ProcessBuilder(KILL.toString(), "-INT", String.valueOf(process.pid()))
                    .start()
                    .waitFor();

            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isEqualTo(DIES_OF_SIGINT);
            assertThat(stdout()).contains("Serving Benchmark Result (partial)");
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void redirectedStderr_getsNoProgress() throws IOException, InterruptedException {
        var process = start("run", "conf/demo.conf", "--set", "workload.requests=200", "--json", "-");

        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isZero();
        assertThat(Files.readString(directory.resolve("err"))).isEmpty();
        assertThat(stdout()).startsWith("{").endsWith("}\n");
    }

    @Test
    void badInput_exitsWithTwo() throws IOException, InterruptedException {
        var process = start("run", "nowhere.conf");

        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isEqualTo(2);
        assertThat(Files.readString(directory.resolve("err"))).isEqualTo("nowhere.conf: no such file\n");
    }

    /** A name without a folder is of the current one, and so is what it includes. */
    @Test
    void scenarioOfTheCurrentFolder_includesAnotherOne() throws IOException, InterruptedException {
        Files.writeString(directory.resolve("base.conf"), "workload { requests = 7, arrivals.request-rate = 10 }");
        Files.writeString(directory.resolve("a.conf"), "include \"base.conf\"");
        var process = process("run", "a.conf", "--json", "-")
                .directory(directory.toFile())
                .start();

        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isZero();
        assertThat(stdout()).contains("\"completed\" : 7");
    }

    @Test
    void includeThatIsNotThere_exitsWithTwo() throws IOException, InterruptedException {
        Files.writeString(directory.resolve("a.conf"), "seed = 1\ninclude \"base.conf\"");
        var process = process("run", "a.conf").directory(directory.toFile()).start();

        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isEqualTo(2);
        assertThat(Files.readString(directory.resolve("err")))
                .isEqualTo("a.conf:2: include \"base.conf\": no such file: base.conf\n");
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
        var process =
                start("run", "conf/demo.conf", "--set", "workload.kind=mooncake", "--set", "workload.trace=" + trace);

        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isEqualTo(2);
        assertThat(Files.readString(directory.resolve("err")))
                .startsWith(trace + ":" + (numGood + 1) + ": not JSON")
                .doesNotContain("giving up");
    }

    private Process start(String... args) throws IOException {
        return process(args).start();
    }

    private ProcessBuilder process(String... args) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+IgnoreUnrecognizedVMOptions",
                "--sun-misc-unsafe-memory-access=allow",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                classPath(),
                Understudy.class.getName()));
        command.addAll(List.of(args));
        return new ProcessBuilder(command)
                .redirectOutput(directory.resolve("out").toFile())
                .redirectError(directory.resolve("err").toFile());
    }

    /** Holds in any folder that the process is started in. */
    private static String classPath() {
        return Pattern.compile(File.pathSeparator, Pattern.LITERAL)
                .splitAsStream(System.getProperty("java.class.path"))
                .map(entry -> Path.of(entry).toAbsolutePath().toString())
                .collect(Collectors.joining(File.pathSeparator));
    }

    /** A signal before the run has started would only end the JVM. */
    private void awaitStart(Process process) throws IOException, InterruptedException {
        while (process.isAlive() && !Files.readString(directory.resolve("err")).contains("the run has started")) {
            process.waitFor(20, TimeUnit.MILLISECONDS);
        }
    }

    private String stdout() throws IOException {
        return Files.readString(directory.resolve("out"));
    }
}
