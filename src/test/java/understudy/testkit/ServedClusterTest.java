package understudy.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import understudy.faults.Fault;
import understudy.faults.ReplicaState;

/** A cluster in a test, called over HTTP. A step takes 10 ms, and a request 4 ms to the queue. */
final class ServedClusterTest {
    private static final String STEPS_OF_10_MS = """
            cluster.replicas = 2
            engine.async-scheduling = false
            latency.model = linear
            latency.linear { per-step = 10ms, per-token = 0ns, per-decode-seq = 0ns, per-kv-token = 0ns }
            """;

    private static final String THREE_TOKENS =
            "{\"prompt\": \"Hello\", \"max_tokens\": 3, \"ignore_eos\": true, \"stream\": %s}";

    @RegisterExtension
    final EmulatedClusterExtension emulation = EmulatedClusterExtension.servingPaused(STEPS_OF_10_MS);

    private final HttpClient client = HttpClient.newHttpClient();

    @Test
    void pausedClock_letsTokensComeWhenItIsMoved(EmulatedCluster cluster) {
        var answer = post(cluster, THREE_TOKENS.formatted(false));
        cluster.awaitRequests(1);

        // To the queue in 4 ms, then three steps: the last token comes at 34 ms.
        cluster.advance(Duration.ofMillis(33));
        cluster.check().hasUnfinished(1).hasMetric("vllm:generation_tokens_total", 2);
        assertThat(answer).isNotDone();
        cluster.advance(Duration.ofMillis(1));

        assertThat(answer.join().statusCode()).isEqualTo(200);
        assertThat(answer.join().body()).contains("\"completion_tokens\":3");
        cluster.check()
                .hasCompleted(1)
                .hasServed(0, 1)
                .hasMeanTtftOfAtMost(Duration.ofMillis(14))
                .hasMetric("vllm:generation_tokens_total", "engine=\"0\"", 3)
                .hasMetric("vllm:request_success_total", "finished_reason=\"length\"", 1);
    }

    @Test
    void choices_areRequestsOfTheirOwn(EmulatedCluster cluster) {
        var answer = post(cluster, "{\"prompt\": \"Hello\", \"n\": 4, \"max_tokens\": 3, \"ignore_eos\": true}");

        cluster.awaitRequests(4);
        cluster.advance(Duration.ofSeconds(1));

        assertThat(answer.join().statusCode()).isEqualTo(200);
        cluster.check().hasServed(0, 2).hasServed(1, 2).hasCompleted(4);
    }

    @Test
    void crashInTheMiddle_breaksTheStreamOff(EmulatedCluster cluster) {
        var answer = post(cluster, THREE_TOKENS.formatted(true));
        cluster.awaitRequests(1);
        cluster.advance(Duration.ofMillis(20));

        cluster.inject(new Fault.Crash(0));

        assertThat(answer)
                .failsWithin(Duration.ofMinutes(1))
                .withThrowableThat()
                .withCauseInstanceOf(IOException.class);
        cluster.check().hasFailed(1).hasState(0, ReplicaState.DOWN);
    }

    @Test
    void requestsByHandAndOverHttp_areServedTogether(EmulatedCluster cluster) {
        var byHand = cluster.submit(100, 3);
        var overHttp = post(cluster, THREE_TOKENS.formatted(false));
        cluster.awaitRequests(1);

        cluster.advance(Duration.ofSeconds(1));

        assertThat(byHand.finished().numOutputTokens()).isEqualTo(3);
        assertThat(overHttp.join().statusCode()).isEqualTo(200);
        cluster.check().hasCompleted(2);
    }

    @Test
    void missingMetric_isNamed(EmulatedCluster cluster) {
        assertThatThrownBy(() -> cluster.check().hasMetric("vllm:generation_tokens_total", 1))
                .isInstanceOf(AssertionError.class)
                .hasMessage("vllm:generation_tokens_total: expected 1.0, but it is 0.0");
    }

    @Test
    void runningClock_answersAtOnce() throws Exception {
        // Two thousand steps of 10 ms: twenty seconds, had the clock to wait for the wall's.
        try (var cluster = EmulatedCluster.serve(STEPS_OF_10_MS)) {
            var answer = post(cluster, "{\"prompt\": \"Hello\", \"max_tokens\": 2000, \"ignore_eos\": true}")
                    .join();

            var usage = new ObjectMapper().readTree(answer.body()).get("usage");
            assertThat(usage.get("completion_tokens").asInt()).isEqualTo(2000);
            assertThat(cluster.nowNanos()).isGreaterThanOrEqualTo(20_000_000_000L);
        }
    }

    @Test
    void pacedClock_keepsPace() {
        // Three steps of 10 ms and 4 ms before, at ten times the wall's speed.
        try (var cluster = EmulatedCluster.serve(STEPS_OF_10_MS + "clock.speed = 10")) {
            assertThat(post(cluster, THREE_TOKENS.formatted(true)).join().body())
                    .endsWith("data: [DONE]\n\n");
            assertThat(cluster.server().api().cluster().time().speed()).isEqualTo(10);
            cluster.check().hasCompleted(1);
        }
    }

    @Test
    void kvEvents_areThereWhenTheClockHasBeenMoved() {
        var kvEvents = "kv-cache.kv-events { enable-kv-cache-events = true, endpoint = \"tcp://127.0.0.1:*\" }";
        try (var cluster = EmulatedCluster.servePaused(STEPS_OF_10_MS + kvEvents)) {
            var tokenIds = IntStream.range(0, 40).boxed().toList();
            var answer = post(cluster, "{\"prompt\": " + tokenIds + ", \"max_tokens\": 3, \"ignore_eos\": true}");
            cluster.awaitRequests(1);
            cluster.advance(Duration.ofSeconds(1));

            // 40 tokens are two full blocks, stored with the first step; the answer completes none.
            assertThat(cluster.kvEvents().orElseThrow().numBatches(0)).isEqualTo(1);
            assertThat(cluster.blockHashes(0)).hasSize(2);
            assertThat(answer.join().statusCode()).isEqualTo(200);
        }
    }

    @Test
    void settingThatNoServerCanUse_isNamed() {
        assertThatThrownBy(() -> EmulatedCluster.serve("server.host = \"0.0.0.0\""))
                .hasMessageContaining("server.host")
                .hasMessageContaining("server.admin-token");
    }

    @Test
    void clusterWithoutAServer_saysSo() {
        try (var cluster = EmulatedCluster.startPaused("")) {
            assertThatThrownBy(cluster::uri)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("no HTTP server");
        }
    }

    @Test
    void closedCluster_listensNoMore() {
        var cluster = EmulatedCluster.serve("");
        var uri = cluster.uri().resolve("/health");
        assertThat(client.sendAsync(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString())
                        .join())
                .extracting(HttpResponse::statusCode)
                .isEqualTo(200);

        cluster.close();

        var request = HttpRequest.newBuilder(uri).build();
        assertThatThrownBy(() -> HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()))
                .isInstanceOf(IOException.class);
    }

    private CompletableFuture<HttpResponse<String>> post(EmulatedCluster cluster, String body) {
        var request = HttpRequest.newBuilder(cluster.uri().resolve("/v1/completions"))
                .header("Content-Type", "application/json")
                .timeout(Duration.ofMinutes(1))
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        return client.sendAsync(request, HttpResponse.BodyHandlers.ofString());
    }
}
