package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import understudy.Waiting;

/** A driver and its workers as processes of their own, some of which are killed. */
@Timeout(value = 4, unit = TimeUnit.MINUTES)
final class SweepClusterProcessTest {
    /** Long enough that a kill finds a run under way: a tenth of a second or more each. */
    private static final String SCENARIO = """
            latency.model = linear
            latency.linear { per-step = 10ms, per-token = 0ms, per-decode-seq = 0ms, per-kv-token = 0ns }
            workload {
              requests = 4000
              arrivals { kind = poisson, request-rate = 50 }
              lengths { prompt { kind = fixed, mean = 16 }, output { kind = fixed, mean = 4 } }
            }
            """;

    private static final List<String> VALUES = List.of("--vary", "cluster.replicas=1..4", "--seeds", "3");
    private static final int NUM_POINTS = 4 * 3;

    /** Has the scenario, and the report of a sweep of it in one process. */
    @TempDir
    private static Path local;

    private static String scenario;

    @TempDir
    private Path directory;

    private final List<ProcessFixture> processes = new ArrayList<>();
    private String address;

    @BeforeAll
    static void sweepInOneProcess() throws IOException {
        scenario = Files.writeString(local.resolve("small.conf"), SCENARIO).toString();
        call(Stream.concat(Stream.of("sweep", scenario, "--out", local.toString()), VALUES.stream())
                .toArray(String[]::new));
    }

    @BeforeEach
    void setUp() throws IOException {
        try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            address = "127.0.0.1:" + free.getLocalPort();
        }
    }

    @AfterEach
    void killAll() {
        processes.forEach(ProcessFixture::close);
    }

    @Test
    void killedWorker_isReplacedByTheOthers() throws Exception {
        var driver = driver("driver");
        var victim = worker("victim");
        var survivor = worker("survivor");
        // Both have joined, and each has a run under way since there are more points than these.
        driver.awaitErr("joins", 2);
        awaitResults(2);
        victim.close();

        assertThat(driver.exitCode()).isZero();
        assertThat(survivor.exitCode()).isZero();
        assertThat(driver.err()).contains("is gone; what it had is run elsewhere");
        assertThat(survivor.err()).contains("the sweep is over");
        assertSameAsLocal();
    }

    @Test
    void interruptedWorker_leavesAtOnce() throws Exception {
        var driver = driver("driver");
        var worker = worker("worker");
        awaitResults(1);
        worker.process().destroy();

        assertThat(worker.exitCode()).isEqualTo(ProcessFixture.DIES_OF_SIGTERM);
        assertThat(worker.err()).hasLineCount(2); // waiting, joined
        driver.awaitErr("is gone; what it had is run elsewhere", 1);
        worker("other");
        assertThat(driver.exitCode()).isZero();
        assertSameAsLocal();
    }

    @Test
    void killedDriver_goesOnWithTheSameWorkers() throws Exception {
        var killed = driver("killed");
        var worker = worker("worker");
        awaitResults(2);
        killed.process().destroyForcibly().waitFor();

        var driver = driver("driver");

        assertThat(driver.exitCode()).isZero();
        assertThat(worker.exitCode()).isZero();
        assertThat(worker.err()).contains("the driver is gone; waiting for it to come back");
        assertSameAsLocal();
    }

    @Test
    void interruptedDriver_keepsWhatIsDone_andTheWorkerWaits() throws Exception {
        var driver = driver("driver");
        var worker = worker("worker");
        awaitResults(2);
        driver.process().destroy();

        assertThat(driver.exitCode()).isEqualTo(ProcessFixture.DIES_OF_SIGTERM);
        assertThat(directory.resolve("out/sweep.json")).content().contains("\"partial\" : true");
        worker.awaitErr("the driver is gone; waiting for it to come back", 1);
        worker.process().destroy();
        assertThat(worker.exitCode()).isEqualTo(ProcessFixture.DIES_OF_SIGTERM);
        assertThat(worker.err()).hasLineCount(3); // waiting, joined, waiting again
    }

    /** Every result is in the journal once, and the report has the bytes of a sweep in one process. */
    private void assertSameAsLocal() throws IOException {
        assertThat(Files.readAllLines(journal())).hasSize(1 + NUM_POINTS).doesNotHaveDuplicates();
        assertThat(directory.resolve("out/sweep.json")).hasSameBinaryContentAs(local.resolve("sweep.json"));
    }

    private Path journal() {
        return directory.resolve("out/points.jsonl");
    }

    private ProcessFixture driver(String name) throws IOException {
        String out = directory.resolve("out").toString();
        var args = new ArrayList<>(List.of("sweep", scenario, "--out", out, "--cluster", "--listen", address));
        args.addAll(VALUES);
        return start(name, args);
    }

    private ProcessFixture worker(String name) throws IOException {
        return start(name, List.of("worker", "--join", address, "--jobs", "1"));
    }

    private ProcessFixture start(String name, List<String> args) {
        var process = ProcessFixture.start(directory, name, ProcessFixture.command(args.toArray(String[]::new)));
        processes.add(process);
        return process;
    }

    private void awaitResults(int count) {
        Waiting.until(() -> numResults() >= count);
    }

    /** The first line of a journal is its head. */
    private int numResults() {
        try {
            return Files.exists(journal()) ? Files.readAllLines(journal()).size() - 1 : 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
