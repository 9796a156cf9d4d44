package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.Waiting;
import understudy.testkit.EmulatedCluster;

/**
 * Limits of vLLM's API server ({@code tests/v1/engine/test_admission_control.py}). A step takes 10 ms; prompts are lists of
 * tokens, and the clock stands still unless it is moved.
 */
final class AdmissionControlTest {
    private static final String SETTINGS = """
        cluster.replicas = 2
        latency.model = linear
        latency.linear { per-step = 10ms, per-token = 0ns, per-decode-seq = 0ns, per-kv-token = 0ns }
        latency.api-delay = 0ms
        server.served-model-name = m
        engine.version = main
        """;

    private static final String BUSY = """
        {"error":{"message":"The engine is currently busy and cannot accept new requests. Please try again later or on a\
         different instance.","type":"Service Unavailable","param":null,"code":503}}""";
    private static final String BACKLOG = """
        {"error":{"message":"The engine has reached its prefill token backlog limit. Please try again later or on a\
         different instance.","type":"Service Unavailable","param":null,"code":503}}""";

    private static final String ONE_TOKEN = "\"prompt\": [1, 2, 3], \"max_tokens\": 1";

    private final HttpClient client = HttpClient.newHttpClient();

    private CompletableFuture<HttpResponse<String>> post(EmulatedCluster cluster, String fields) {
        var uri = URI.create(cluster.uri() + "/v1/completions");
        var body = HttpRequest.BodyPublishers.ofString("{\"model\": \"m\", " + fields + "}");
        var request = HttpRequest.newBuilder(uri)
                .header("Content-Type", "application/json")
                .POST(body)
                .build();
        return client.sendAsync(request, HttpResponse.BodyHandlers.ofString());
    }

    private static void assertServed(CompletableFuture<HttpResponse<String>> call) {
        assertThat(call)
                .succeedsWithin(Duration.ofSeconds(20))
                .extracting(HttpResponse::statusCode)
                .isEqualTo(200);
    }

    private static void assertRefused(CompletableFuture<HttpResponse<String>> call, String body) {
        assertThat(call).succeedsWithin(Duration.ofSeconds(20)).satisfies(response -> {
            assertThat(response.statusCode()).isEqualTo(503);
            assertThat(response.body()).isEqualTo(body);
        });
    }

    /** Two requests are in, one for each replica; the third is too many for the server, until one of them has ended. */
    @Test
    void requests_areLimitedForAllReplicasTogether() {
        try (var cluster = EmulatedCluster.servePaused(SETTINGS + "server.max-num-queued-reqs = 2")) {
            var first = post(cluster, ONE_TOKEN);
            cluster.awaitRequests(1);
            var second = post(cluster, "\"prompt\": [1, 2, 3], \"max_tokens\": 500, \"ignore_eos\": true");
            cluster.awaitRequests(2);

            assertRefused(post(cluster, ONE_TOKEN), BUSY);
            cluster.advance(Duration.ofMillis(100));
            assertServed(first);
            // Of 2 one is left: a call with two answers is one too many.
            assertRefused(post(cluster, "\"prompt\": [1, 2, 3], \"max_tokens\": 1, \"n\": 2"), BUSY);
            var fourth = post(cluster, ONE_TOKEN);
            cluster.awaitRequests(3);
            cluster.advance(Duration.ofSeconds(10));

            assertServed(second);
            assertServed(fourth);
            assertThat(cluster.metric("vllm:admission_rejections_total", "reason=\"max_num_queued_reqs\""))
                    .isEqualTo(2);
            assertThat(cluster.metric("vllm:admission_rejections_total", "reason=\"max_num_queued_tokens\""))
                    .isZero();
        }
    }

    /**
     * 5 prompt tokens are less than 6, so that a second prompt is taken, whatever its length: 10 are not. With its first token
     * a prompt counts no more, although its answer goes on.
     */
    @ParameterizedTest
    @CsvSource({"true", "false"})
    void promptTokens_countUntilTheFirstToken(boolean streams) {
        String fields =
                "\"prompt\": [1, 2, 3, 4, 5], \"max_tokens\": 500, \"ignore_eos\": true, \"stream\": " + streams;
        try (var cluster = EmulatedCluster.servePaused(SETTINGS + "server.max-num-queued-tokens = 6")) {
            var first = post(cluster, fields);
            cluster.awaitRequests(1);
            var second = post(cluster, fields);
            cluster.awaitRequests(2);

            assertRefused(post(cluster, fields), BACKLOG);
            cluster.advance(Duration.ofMillis(50));
            var third = post(cluster, fields);
            cluster.awaitRequests(3);
            cluster.advance(Duration.ofSeconds(20));

            assertServed(first);
            assertServed(second);
            assertServed(third);
            assertThat(cluster.metric("vllm:admission_rejections_total", "reason=\"max_num_queued_tokens\""))
                    .isEqualTo(1);
        }
    }

    /** An answer would take 1,000 s, at 10 ms for each token; a client that goes away gives its place back. */
    @Test
    void callThatIsGivenUp_countsNoMore() {
        String limits = "clock.speed = 1, server.max-num-queued-reqs = 1";
        try (var cluster = EmulatedCluster.serve(SETTINGS + limits)) {
            var gone = post(cluster, "\"prompt\": [1, 2, 3], \"max_tokens\": 100000, \"ignore_eos\": true");
            cluster.awaitRequests(1);
            assertRefused(post(cluster, ONE_TOKEN), BUSY);

            gone.cancel(true);

            Waiting.until(() -> post(cluster, ONE_TOKEN).join().statusCode() == 200);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    ''                                                                  | false
                    server.max-num-queued-reqs = 2                                      | true
                    server.max-num-queued-tokens = 2, engine.version = "0.30"           | false
                    """)
    void family_isThereWithALimitOnly(String limits, boolean isThere) throws IOException, InterruptedException {
        try (var cluster = EmulatedCluster.serve(SETTINGS + limits)) {
            var page = client.send(
                    HttpRequest.newBuilder(URI.create(cluster.uri() + "/metrics"))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());

            assertThat(page.body().contains("vllm:admission_rejections")).isEqualTo(isThere);
        }
    }
}
