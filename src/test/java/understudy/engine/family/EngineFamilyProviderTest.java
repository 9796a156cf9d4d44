package understudy.engine.family;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.engine.EngineFamily;
import understudy.engine.EngineSpec;
import understudy.engine.Hardware;
import understudy.faults.Fault;
import understudy.fuzz.Fuzzer;
import understudy.fuzz.MemoryCheck;
import understudy.fuzz.RunCheck;
import understudy.scenario.ScenarioFile;
import understudy.settings.ScenarioException;
import understudy.settings.Section;
import understudy.testkit.EmulatedCluster;

/**
 * A family of engines of a user, {@link example.OneAtATime}, which META-INF/services of the test resources names. A step
 * takes 10 ms, and a request 4 ms to the queue.
 */
final class EngineFamilyProviderTest {
    private static final long MILLI = 1_000_000;
    private static final String SETTINGS = """
        engine.kind = one-at-a-time
        latency.model = linear
        latency.linear { per-step = 10ms, per-token = 0ns, per-decode-seq = 0ns, per-kv-token = 0ns }
        """;

    @Test
    void familyOfAUser_standsBehindThoseOfOurs() {
        assertThat(EngineFamilies.byName().keySet()).containsExactly("vllm", "sglang", "roseinfer", "one-at-a-time");
        assertThat(EngineFamilies.builtInNames()).containsExactly("vllm", "sglang", "roseinfer");
    }

    @ParameterizedTest
    @CsvSource({"vllm, which is the name of another one", "SGLang, which must be in lower case and with hyphens"})
    void nameThatCannotBe_isRefused(String name, String problem) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> EngineFamilies.byName(List.of(named(name))))
                .withMessageContaining(problem);
    }

    private static EngineFamily named(String name) {
        return new EngineFamily() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public EngineSpec read(Section engine, Section kvCache, Hardware hardware, KvUse use) {
                throw new UnsupportedOperationException();
            }
        };
    }

    @Test
    void request_waitsUntilTheOneBeforeHasEnded() {
        try (var cluster = EmulatedCluster.startPaused(SETTINGS)) {
            var first = cluster.submit(100, 3);
            var second = cluster.submit(100, 2);
            cluster.advance(Duration.ofSeconds(1));

            // Steps end at 14, 24 and 34 ms for the first request, and at 44 and 54 ms for the second.
            assertThat(first.tokenNanos()).containsExactly(14 * MILLI, 24 * MILLI, 34 * MILLI);
            assertThat(second.tokenNanos()).containsExactly(44 * MILLI, 54 * MILLI);
            cluster.check().hasCompleted(2);
        }
    }

    @Test
    void crash_takesTheOneThatRunsToTheOtherReplica() {
        try (var cluster = EmulatedCluster.startPaused(SETTINGS + "cluster.replicas = 2, faults.on-crash = resume")) {
            var request = cluster.submit(100, 3);
            cluster.advance(Duration.ofMillis(20));
            cluster.inject(new Fault.Crash(0));
            cluster.advance(Duration.ofSeconds(1));

            assertThat(request.tokenNanos()).hasSize(3);
            assertThat(request.replicaIndex()).isEqualTo(1);
            cluster.check().hasCompleted(1);
        }
    }

    @Test
    void server_answersAndDescribesTheEngine() throws IOException, InterruptedException {
        try (var cluster = EmulatedCluster.serve(SETTINGS + "kv-cache.num-gpu-blocks = 500")) {
            var answer = send(HttpRequest.newBuilder(cluster.uri().resolve("/v1/completions"))
                    .header("Content-Type", "application/json")
                    .POST(BodyPublishers.ofString("{\"prompt\": \"Hello\", \"max_tokens\": 3, \"ignore_eos\": true}")));
            var info = get(cluster.uri().resolve("/server_info?config_format=json"));
            var metrics = get(cluster.uri().resolve("/metrics"));

            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body()).contains("\"completion_tokens\":3");
            assertThat(info.body()).contains("\"max_num_seqs\":1");
            assertThat(metrics.body()).contains("vllm:cache_config_info{").contains("num_gpu_blocks=\"500\"");
        }
    }

    private static HttpResponse<String> get(URI uri) throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(uri));
    }

    private static HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return HttpClient.newHttpClient().send(request.build(), BodyHandlers.ofString());
    }

    /** Laws of a run with faults, and of engine and memory under a random hand. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void lawsHold_whateverHappens(int seed) throws InterruptedException {
        var scenario = new ScenarioFile(Map.of()).load(Section.of("seed = " + seed + "\n" + SETTINGS + """
                    cluster.replicas = 2
                    engine.max-model-len = 300
                    kv-cache { num-gpu-blocks = 40, block-size = 8 }
                    faults {
                      on-crash = reroute
                      plan = [
                        { at = 2s, do = crash, replica = 0, for = 1s }
                        { at = 4s, do = shrink-kv, replica = 1, num-gpu-blocks = 30 }
                      ]
                    }
                    workload {
                      requests = 60
                      arrivals.request-rate = 20
                      lengths { prompt { kind = uniform, min = 1, max = 150 }, output { kind = uniform, min = 1, max = 40 } }
                    }
                    """));

        var failure = new Fuzzer(seed, List.of(new RunCheck(), new MemoryCheck())).failure(scenario);

        assertThat(failure).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "engine.max-num-seqs = 4 | engine.max-num-seqs is 4, which means nothing to engine.kind ="
                        + " one-at-a-time",
                "engine.lora.lora-modules = [a] | engine.lora.lora-modules is [a], which means nothing to",
                "engine.two-at-a-time.depth = 1 | unknown key engine.two-at-a-time.depth",
                "engine.vllm.depth = 1 | unknown key engine.vllm.depth",
                "router.policy = kv-aware, kv-cache.sessions = simplified | kv-cache.sessions is \"simplified\", which"
                        + " means",
                "engine.kind = two-at-a-time | must be one of vllm, sglang, roseinfer, one-at-a-time"
            })
    void settingsThatCannotBe_areRefused(String settings, String problem) {
        assertThatThrownBy(() -> EmulatedCluster.startPaused(SETTINGS + settings))
                .isInstanceOf(ScenarioException.class)
                .hasMessageContaining(problem);
    }

    @Test
    void manual_showsThisVeryClass() throws IOException {
        String source = Files.readString(Path.of("src/test/java/example/OneAtATime.java"));

        assertThat(Files.readString(Path.of("src/site/markdown/scenarios.md"))).contains(source);
    }

    @Test
    void sectionOfTheFamily_isItsOwn() {
        EmulatedCluster.startPaused(SETTINGS + "engine.one-at-a-time.anything = 1")
                .close();
    }
}
