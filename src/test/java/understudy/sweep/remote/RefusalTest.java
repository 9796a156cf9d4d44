package understudy.sweep.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import understudy.scenario.ScenarioFile;
import understudy.settings.ScenarioException;
import understudy.sweep.InputFiles;
import understudy.sweep.SweepJob;
import understudy.sweep.SweepPlan;

/** Who is not given any work; driver and worker are two actor systems of this process. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
final class RefusalTest {
    private static final String ROW =
            "{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 5, \"hash_ids\": [1]}\n";

    private final List<String> driverSaid = new CopyOnWriteArrayList<>();
    private final List<String> workerSaid = new CopyOnWriteArrayList<>();

    @TempDir
    private Path directory;

    private HostPort address;
    private ClusterExecutor driver;

    @BeforeEach
    void setUp() throws IOException {
        try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            address = new HostPort("127.0.0.1", free.getLocalPort());
        }
    }

    @AfterEach
    void tearDown() {
        if (driver != null) {
            driver.close();
        }
    }

    @Test
    void otherBuild_isRefusedOnBothSides() throws IOException {
        driver = driver(Map.of());

        var ending = worker("understudy 2").run();

        assertThat(ending).isEqualTo(ClusterWorker.Ending.REFUSED);
        assertThat(workerSaid).contains("refused: the sweep's driver is understudy 1, and this is understudy 2");
        assertThat(driverSaid).singleElement().asString().contains("is refused: it is understudy 2");
        assertThat(driver.status()).isEqualTo(", 0 workers");
    }

    /** The trace changes after the driver has read it, as if the worker's machine had another one. */
    @Test
    void otherTrace_isNamedOnBothSides() throws IOException {
        var trace = Files.writeString(directory.resolve("trace.jsonl"), ROW);
        driver = driver(Map.of("workload.kind", "mooncake", "workload.trace", trace.toString()));
        Files.writeString(trace, ROW + ROW);

        var ending = worker("understudy 1").run();

        String line = trace + " has another content on this machine than where the sweep was started";
        assertThat(ending).isEqualTo(ClusterWorker.Ending.REFUSED);
        assertThat(workerSaid).contains(line);
        assertThat(driverSaid).anyMatch(said -> said.endsWith("cannot take part: " + line));
    }

    @Test
    void missingFile_isNamed() {
        var missing = directory.resolve("nothing.jsonl");

        assertThat(InputFiles.difference(Map.of(missing.toString(), "00")))
                .contains(missing + " is missing on this machine, and the sweep reads it");
    }

    @Test
    void takenPort_isBadInput() throws IOException {
        try (var taken = new ServerSocket(address.port(), 1, InetAddress.getByName(address.host()))) {
            assertThat(taken.isBound()).isTrue();
            assertThatThrownBy(() -> driver(Map.of()))
                    .isInstanceOf(ScenarioException.class)
                    .hasMessageStartingWith("cannot listen at " + address);
        }
    }

    private ClusterExecutor driver(Map<String, String> settings) throws IOException {
        var plan = new SweepPlan(List.of("conf/demo.conf"), List.of(), List.of(), Optional.empty());
        var job = new SweepJob(plan, new ScenarioFile(Map.of()), settings, "understudy 1");
        return new ClusterExecutor(job, node(address), job.version(), driverSaid::add);
    }

    private ClusterWorker worker(String build) {
        return new ClusterWorker(node(new HostPort("127.0.0.1", 0)), List.of(address), build, 1, workerSaid::add);
    }

    private static Node node(HostPort address) {
        return new Node(address, Optional.empty(), Optional.empty());
    }
}
