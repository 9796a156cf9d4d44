package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A driver and its workers as processes of their own, some of which are killed. */
@Timeout(value = 4, unit = TimeUnit.MINUTES)
final class SweepClusterProcessTest {
    /** Long enough that a kill finds a run under way: some tenths of a second each. */
    private static final String SCENARIO = """
            latency.model = linear
            latency.linear { per-step = 10ms, per-token = 0ms, per-decode-seq = 0ms, per-kv-token = 0ns }
            workload {
              requests = 10000
              arrivals { kind = poisson, request-rate = 50 }
              lengths { prompt { kind = fixed, mean = 16 }, output { kind = fixed, mean = 4 } }
            }
            """;

    private static final List<String> VALUES = List.of("--vary", "cluster.replicas=1..4", "--seeds", "3");
    private static final int NUM_POINTS = 4 * 3;

    @TempDir
    private Path directory;

    private final List<Process> processes = new ArrayList<>();
    private String scenario;
    private String address;

    @BeforeEach
    void setUp() throws IOException {
        scenario = Files.writeString(directory.resolve("small.conf"), SCENARIO).toString();
        try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            address = "127.0.0.1:" + free.getLocalPort();
        }
    }

    @AfterEach
    void killAll() {
        processes.forEach(Process::destroyForcibly);
    }

    @Test
    void killedWorker_isReplacedByTheOthers() throws Exception {
        var driver = driver("driver");
        var victim = worker("victim");
        var survivor = worker("survivor");
        // Both have joined, and each has a run under way since there are more points than these.
        awaitText("driver", "joins", 2);
        awaitResults(2);
        victim.destroyForcibly();

        assertThat(exitCode(driver)).isZero();
        assertThat(exitCode(survivor)).isZero();
        assertThat(said("driver")).contains("is gone; what it had is run elsewhere");
        assertThat(said("survivor")).contains("the sweep is over");
        assertSameAsLocal();
    }

    @Test
    void interruptedWorker_leavesAtOnce() throws Exception {
        var driver = driver("driver");
        var worker = worker("worker");
        awaitResults(1);
        worker.destroy();

        assertThat(exitCode(worker)).isEqualTo(143);
        assertThat(said("worker")).hasLineCount(2); // waiting, joined
        awaitText("driver", "is gone; what it had is run elsewhere", 1);
        worker("other");
        assertThat(exitCode(driver)).isZero();
        assertSameAsLocal();
    }

    @Test
    void killedDriver_goesOnWithTheSameWorkers() throws Exception {
        var killed = driver("killed");
        var worker = worker("worker");
        awaitResults(2);
        killed.destroyForcibly().waitFor();

        var driver = driver("driver");

        assertThat(exitCode(driver)).isZero();
        assertThat(exitCode(worker)).isZero();
        assertThat(said("worker")).contains("the driver is gone; waiting for it to come back");
        assertSameAsLocal();
    }

    @Test
    void interruptedDriver_keepsWhatIsDone_andTheWorkerWaits() throws Exception {
        var driver = driver("driver");
        var worker = worker("worker");
        awaitResults(2);
        driver.destroy();

        assertThat(exitCode(driver)).isEqualTo(143);
        assertThat(directory.resolve("out/sweep.json")).content().contains("\"partial\" : true");
        awaitText("worker", "the driver is gone; waiting for it to come back", 1);
        worker.destroy();
        assertThat(exitCode(worker)).isEqualTo(143);
        assertThat(said("worker")).hasLineCount(3); // waiting, joined, waiting again
    }

    /** Every result is in the journal once, and the report has the bytes of a sweep in one process. */
    private void assertSameAsLocal() throws IOException {
        var local = directory.resolve("local");
        call(Stream.concat(Stream.of("sweep", scenario, "--out", local.toString()), VALUES.stream())
                .toArray(String[]::new));

        assertThat(Files.readAllLines(journal())).hasSize(1 + NUM_POINTS).doesNotHaveDuplicates();
        assertThat(directory.resolve("out/sweep.json")).hasSameBinaryContentAs(local.resolve("sweep.json"));
    }

    private Path journal() {
        return directory.resolve("out/points.jsonl");
    }

    private Process driver(String name) throws IOException {
        String out = directory.resolve("out").toString();
        var args = new ArrayList<>(List.of("sweep", scenario, "--out", out, "--cluster", "--listen", address));
        args.addAll(VALUES);
        return start(name, args);
    }

    private Process worker(String name) throws IOException {
        return start(name, List.of("worker", "--join", address, "--jobs", "1"));
    }

    private Process start(String name, List<String> args) throws IOException {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+IgnoreUnrecognizedVMOptions",
                "--sun-misc-unsafe-memory-access=allow",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Understudy.class.getName()));
        command.addAll(args);
        var process = new ProcessBuilder(command)
                .redirectError(directory.resolve(name + ".err").toFile())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        processes.add(process);
        return process;
    }

    private static int exitCode(Process process) throws InterruptedException {
        assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
        return process.exitValue();
    }

    private String said(String name) throws IOException {
        return Files.readString(directory.resolve(name + ".err"));
    }

    private void awaitText(String name, String text, int times) throws Exception {
        while (said(name).split(text, -1).length <= times) {
            Thread.sleep(20);
        }
    }

    private void awaitResults(int count) throws Exception {
        while (!Files.exists(journal()) || Files.readAllLines(journal()).size() <= count) {
            Thread.sleep(20);
        }
    }
}
