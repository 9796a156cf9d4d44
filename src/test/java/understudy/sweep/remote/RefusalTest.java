package understudy.sweep.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.typesafe.config.ConfigFactory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.Kill;
import org.apache.pekko.actor.PoisonPill;
import org.apache.pekko.testkit.javadsl.TestKit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.scenario.ScenarioFile;
import understudy.settings.Hocon;
import understudy.settings.ScenarioException;
import understudy.sweep.InputFiles;
import understudy.sweep.SweepJob;
import understudy.sweep.SweepPlan;
import understudy.sweep.SweepPoint;

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

    @Test
    void otherSecret_isRefusedOnBothSides() throws IOException {
        driver = driver(Map.of());
        var stranger = Node.withSecret(
                new HostPort("127.0.0.1", 0), Optional.empty(), Secret.readOrMake(directory.resolve("other")));

        var ending = new ClusterWorker(stranger, List.of(address), "understudy 1", 1, workerSaid::add).run();

        assertThat(ending).isEqualTo(ClusterWorker.Ending.REFUSED);
        assertThat(workerSaid).contains("refused: the sweep's driver has another secret; see --secret-file");
        assertThat(driverSaid).singleElement().asString().endsWith("is refused: it has another secret");
        assertThat(driver.status()).isEqualTo(", 0 workers");
    }

    /** A stranger need not be a member of the cluster to send something to an actor whose path can be guessed. */
    @ParameterizedTest
    @ValueSource(strings = {"/user/*", "/user", "/user/producer"})
    void strangersPoison_endsNothing(String path) throws Exception {
        driver = driver(Map.of());
        var config = ConfigFactory.parseString("pekko.actor.provider = remote")
                .withFallback(node(new HostPort("127.0.0.1", 0)).config(List.of()));
        var stranger = ActorSystem.create("stranger", config);
        try {
            var actors = stranger.actorSelection("pekko://" + Node.SYSTEM + "@" + address + path);
            actors.tell(PoisonPill.getInstance(), ActorRef.noSender());
            actors.tell(Kill.getInstance(), ActorRef.noSender());
            var daemon = stranger.actorSelection("pekko://" + Node.SYSTEM + "@" + address + "/remote");
            daemon.tell(PoisonPill.getInstance(), ActorRef.noSender());

            // The driver understands a worker that comes after that.
            assertThat(worker("understudy 2").run()).isEqualTo(ClusterWorker.Ending.REFUSED);
            assertThat(driverSaid).singleElement().asString().contains("is refused: it is understudy 2");
        } finally {
            TestKit.shutdownActorSystem(stranger);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "include \"/etc/hosts\"",
                "include file(\"/etc/hosts\")",
                "include url(\"http://127.0.0.1:9/a.conf\")",
                "{\"a\": {include classpath(\"reference.conf\")}}"
            })
    void workWithIncludes_isNotRead(String settings) {
        assertThatThrownBy(() -> Hocon.text(settings, "point")).isInstanceOf(ScenarioException.class);
    }

    @Test
    void endOfTheCluster_endsTheSweepByOneLine() throws IOException {
        driver = driver(Map.of());
        var result = driver.submit(new SweepPoint("p", Map.of()));

        driver.close();

        assertThatThrownBy(result::join)
                .hasCauseInstanceOf(ClusterExecutor.ClusterEndedException.class)
                .hasMessageContaining("the cluster of the sweep has come to its end");
    }

    @Test
    void secretThatIsMade_isTheOwnersAndStays() throws IOException {
        var file = directory.resolve("deep/secret");
        var made = Secret.readOrMake(file);

        assertThat(Files.getPosixFilePermissions(file))
                .containsExactlyInAnyOrder(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
        assertThat(Secret.readOrMake(file).hasSigned(made.sign("a", "bc"), "a", "bc"))
                .isTrue();
        assertThat(made.hasSigned(made.sign("a", "bc"), "ab", "c")).isFalse();
        assertThat(directory.resolve("deep"))
                .isDirectoryContaining(file::equals)
                .isDirectoryNotContaining("glob:**.tmp");
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

    private Node node(HostPort address) {
        return Node.withSecret(address, Optional.empty(), Secret.readOrMake(directory.resolve("secret")));
    }
}
