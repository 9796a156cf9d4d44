package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.Waiting;
import understudy.api.call.ServerState;
import understudy.api.model.ModelSettings.AnswerMode;

/** What a server does beside answering: let in, give up, hold back, end. */
final class ServerLifecycleTest {
    private static final String COMPLETIONS = "/v1/completions";
    private static final String ENDLESS =
            "{\"prompt\": \"x\", \"max_tokens\": 2000, \"ignore_eos\": true, \"stream\": %s}";

    @AutoClose
    private final ServerFixture server = new ServerFixture();

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void clientThatGoesAway_freesItsBlocks(boolean streams) throws IOException {
        server.speed = 1;
        server.start();
        try (var socket = connect()) {
            write(socket, COMPLETIONS, ENDLESS.formatted(streams));
            server.awaitMetric("vllm:num_requests_running", "", running -> running == 1);
            server.awaitMetric("vllm:kv_cache_usage_perc", "", usage -> usage > 0);
        }

        server.awaitMetric("vllm:num_requests_running", "", running -> running == 0);
        server.awaitMetric("vllm:kv_cache_usage_perc", "", usage -> usage == 0);
        server.awaitMetric("vllm:request_success_total", "reason=\"abort\"", count -> count == 1);
        server.awaitMetric("understudy_calls_in_flight", "", count -> count == 0);
    }

    @Test
    void slowReader_isCut_andDoesNotStallOthers() throws IOException {
        server.speed = 1000;
        server.streamBuffer = 10;
        server.start();
        try (var socket = connect()) {
            socket.setReceiveBufferSize(4096);
            // 2000 chunks of log probabilities are some megabytes, more than all buffers of a connection hold.
            String body =
                    "{\"prompt\": \"x\", \"max_tokens\": 2000, \"ignore_eos\": true, \"stream\": true, \"logprobs\": 20}";
            for (int i = 0; i < 8; i++) {
                write(socket, COMPLETIONS, body);
            }

            server.awaitMetric("understudy_streams_cut_total", "", count -> count >= 1);
            assertThat(server.post(COMPLETIONS, "{\"prompt\": \"y\"}").status()).isEqualTo(200);
        }
        server.awaitMetric("vllm:kv_cache_usage_perc", "", usage -> usage == 0);
    }

    @Test
    void drain_finishesStreams_refusesOthers_andEnds() throws Exception {
        server.speed = 1;
        server.start();
        var stream = server.client()
                .sendAsync(
                        server.request(COMPLETIONS)
                                .POST(
                                        HttpRequest.BodyPublishers.ofString(
                                                "{\"prompt\": \"x\", \"max_tokens\": 100, \"ignore_eos\": true, \"stream\": true}"))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
        server.awaitMetric("vllm:num_requests_running", "", running -> running == 1);
        assertThat(server.get("/health/ready").status()).isEqualTo(200);

        var drained = CompletableFuture.runAsync(server.server()::drain);
        Waiting.until(() -> server.server().api().state().phase() == ServerState.Phase.DRAINING);

        assertThat(server.get("/health/ready").status()).isEqualTo(503);
        assertThat(server.get("/health").status()).isEqualTo(200);
        var refused = server.post(COMPLETIONS, "{\"prompt\": \"y\"}");
        assertThat(refused.status()).isEqualTo(503);
        assertThat(refused.headers().firstValue("Retry-After")).contains("2");
        var finished = new ServerFixture.Reply(
                200, stream.get().headers(), stream.get().body());
        assertThat(finished.events()).hasSize(100);
        assertThat(finished.isDone()).isTrue();
        drained.get();
    }

    @Test
    void drain_isBounded() throws Exception {
        server.speed = 0.1;
        server.drainTimeout = Duration.ofMillis(50);
        server.start();
        var stream = server.client()
                .sendAsync(
                        server.request(COMPLETIONS)
                                .POST(HttpRequest.BodyPublishers.ofString(ENDLESS.formatted(true)))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
        // The answer must have begun: an error before its first token would be no stream.
        server.awaitMetric("vllm:generation_tokens_total", "", tokens -> tokens >= 1);

        server.server().drain();

        // An error in the stream, and its regular end.
        assertThat(stream.get().body())
                .contains("data: {\"error\":{\"message\":\"The server is shutting down.\"")
                .endsWith("data: [DONE]\n\n");
    }

    @Test
    void tooManyCalls_areToldToComeAgain() throws IOException {
        server.speed = 1;
        server.maxInFlight = 1;
        server.start();
        try (var socket = connect()) {
            write(socket, COMPLETIONS, ENDLESS.formatted(true));
            server.awaitMetric("vllm:num_requests_running", "", running -> running == 1);

            var refused = server.post(COMPLETIONS, "{\"prompt\": \"y\"}");

            assertThat(refused.status()).isEqualTo(429);
            assertThat(refused.headers().firstValue("Retry-After")).contains("2");
            assertThat(refused.json().at("/error/type").asText()).isEqualTo("RateLimitError");
        }
    }

    @Test
    void deadline_endsACall() {
        server.speed = 0.1;
        server.requestTimeout = Duration.ofMillis(50);
        server.start();

        var whole = server.post(COMPLETIONS, ENDLESS.formatted(false));
        var stream = server.post(COMPLETIONS, ENDLESS.formatted(true));

        assertThat(whole.status()).isEqualTo(504);
        assertThat(stream.text()).contains("\"type\":\"GatewayTimeout\"");
        server.speed = 1;
        server.awaitMetric("vllm:num_requests_running", "", running -> running == 0);
    }

    @Test
    void apiKey_guardsV1Only() {
        server.apiKey = "secret";
        server.start();

        assertThat(server.get("/v1/models").status()).isEqualTo(401);
        assertThat(server.get("/v1/models").text()).isEqualTo("{\"error\":\"Unauthorized\"}");
        assertThat(server.get("/v1/models", "Authorization", "Bearer other").status())
                .isEqualTo(401);
        assertThat(server.get("/v1/models", "Authorization", "Bearer secret").status())
                .isEqualTo(200);
        assertThat(server.get("/health").status()).isEqualTo(200);
        assertThat(server.get("/metrics").status()).isEqualTo(200);
    }

    @Test
    void browsers_mayCallFromAnywhereWithAnyHeader() throws IOException {
        server.start();
        // Sent by hand: the Java client does not let these headers be set.
        String preflight = raw("OPTIONS /v1/chat/completions HTTP/1.1\r\nHost: x\r\nOrigin: http://example.com\r\n"
                + "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization,"
                + "content-type,x-stainless-os\r\nConnection: close\r\n\r\n");

        assertThat(preflight)
                .startsWith("HTTP/1.1 200")
                .contains("Access-Control-Allow-Origin: *")
                .contains("Access-Control-Allow-Headers: authorization, content-type, x-stainless-os");
        assertThat(raw("GET /v1/models HTTP/1.1\r\nHost: x\r\nOrigin: http://a\r\nConnection: close\r\n\r\n"))
                .contains("Access-Control-Allow-Origin: *")
                .contains("Access-Control-Expose-Headers: X-Request-Id, Retry-After");
    }

    @Test
    void otherRefusals_areJsonToo() {
        server.start();
        var tooLarge = server.post(COMPLETIONS, "{\"prompt\": \"" + "x".repeat(2_000_000) + "\"}");
        var notJson = server.post(COMPLETIONS, "prompt=x", "Content-Type", "text/plain");
        var nowhere = server.get("/v2/models");
        var wrongMethod = server.get(COMPLETIONS);

        assertThat(tooLarge.status()).isEqualTo(413);
        assertThat(tooLarge.json().at("/error/code").asInt()).isEqualTo(413);
        assertThat(notJson.json().at("/error/message").asText())
                .isEqualTo("Unsupported Media Type: Only 'application/json' is allowed");
        assertThat(nowhere.json().at("/error/message").asText()).isEqualTo("Not Found");
        assertThat(wrongMethod.status()).isEqualTo(405);
        assertThat(wrongMethod.json().at("/error/code").asInt()).isEqualTo(405);
    }

    @Test
    void lastRequestOfAConnection_isAnswered() throws Exception {
        server.start();
        String body = "{\"prompt\": \"" + "x ".repeat(1_500) + "\", \"max_tokens\": 5}";
        try (var socket = new Socket(
                InetAddress.getLoopbackAddress(), server.server().address().getPort())) {
            var out = socket.getOutputStream();
            String head = "POST " + COMPLETIONS + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                    + "Content-Type: application/json\r\nContent-Length: " + body.length() + "\r\n\r\n";
            out.write(head.getBytes(StandardCharsets.UTF_8));
            out.flush();
            // In pieces, so that the server has seen the head, and that no more requests come, before the rest is
            // there.
            server.get("/health");
            out.write(body.getBytes(StandardCharsets.UTF_8));
            out.flush();

            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .startsWith("HTTP/1.1 200 OK");
        }
    }

    @Test
    void fullMemory_makesRequestsWaitAndNotFail() {
        // 130 blocks hold 2064 tokens; each of the answers needs up to 600, so not all run at a time.
        server.numBlocks = 130;
        server.speed = 1000;
        server.start();
        var answers = java.util.stream.IntStream.range(0, 12)
                .mapToObj(i -> CompletableFuture.supplyAsync(() -> server.post(
                        COMPLETIONS, "{\"prompt\": \"" + i + "\", \"max_tokens\": 600, \"ignore_eos\": true}")))
                .toList();

        assertThat(answers)
                .allSatisfy(answer -> assertThat(answer.get()
                                .json()
                                .at("/usage/completion_tokens")
                                .asInt())
                        .isEqualTo(600));
        server.awaitMetric("vllm:kv_cache_usage_perc", "", usage -> usage == 0);
        assertThat(server.metric("vllm:generation_tokens_total", "")).isEqualTo(7200);
    }

    @Test
    void keyStore_makesTheServerSpeakTls(@TempDir Path directory) throws Exception {
        var keyStore = directory.resolve("key.p12");
        var keytool = Path.of(System.getProperty("java.home"), "bin", "keytool");
        assumeTrue(Files.isExecutable(keytool), "there is no " + keytool);
        var made = new ProcessBuilder(
                        keytool.toString(),
                        "-genkeypair",
                        "-alias",
                        "server",
                        "-keyalg",
                        "RSA",
                        "-dname",
                        "CN=localhost",
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        "secret",
                        "-keystore",
                        keyStore.toString())
                .redirectErrorStream(true)
                .start();
        assertThat(made.waitFor()).isZero();
        server.tlsKeyStore = keyStore.toString();
        server.tlsPassword = "secret";
        server.start();
        var trust = KeyStore.getInstance(keyStore.toFile(), "secret".toCharArray());
        var managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(trust);
        var context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);

        // Without checking the name in the certificate, which is what a raw socket does.
        try (var socket = context.getSocketFactory()
                .createSocket(
                        InetAddress.getLoopbackAddress(),
                        server.server().address().getPort())) {
            socket.getOutputStream()
                    .write("GET /v1/models HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

            assertThat(answer).startsWith("HTTP/1.1 200 OK").contains("\"object\":\"list\"");
        }
    }

    @Test
    void cannedAnswers_areGivenToTheirQuestions_orInTurn(@TempDir Path directory) throws IOException {
        var file = directory.resolve("answers.jsonl");
        Files.writeString(file, """
                {"question": "Who?", "answer": "Nobody."}
                {"answer": "One."}
                {"answer": "Two."}
                """);
        server.answers = AnswerMode.REPLAY;
        server.answersFile = file.toString();
        server.start();

        assertThat(List.of(said("Who?"), said("What?"), said("Why?"), said("Who?"), said("Where?")))
                .containsExactly("Nobody.", "One.", "Two.", "Nobody.", "One.");
    }

    private String said(String question) {
        return server.post(
                        "/v1/chat/completions",
                        "{\"messages\": [{\"role\": \"user\", \"content\": \"" + question + "\"}]}")
                .json()
                .at("/choices/0/message/content")
                .asText();
    }

    @Test
    void asFastAsPossible_nothingWaits() {
        server.speed = Double.POSITIVE_INFINITY;
        server.start();

        // Two thousand steps of 5 ms: ten seconds of virtual time.
        var answer = server.post(COMPLETIONS, ENDLESS.formatted(false)).json();

        assertThat(answer.at("/usage/completion_tokens").asInt()).isEqualTo(2000);
        assertThat(server.metric("understudy_virtual_time_seconds", "")).isGreaterThan(9.9);
    }

    @Test
    void echo_saysTheQuestion() throws IOException {
        server.answers = AnswerMode.ECHO;
        server.start();

        var echo = server.post(
                "/v1/chat/completions",
                "{\"messages\": [{\"role\": \"user\", \"content\": \"Grüße, 世界 😀!\"}], \"stream\": true}");

        String said = echo.events().stream()
                .map(event -> event.at("/choices/0/delta/content").asText())
                .collect(java.util.stream.Collectors.joining());
        assertThat(said).isEqualTo("Grüße, 世界 😀!");
    }

    private Socket connect() throws IOException {
        return new Socket(
                InetAddress.getLoopbackAddress(), server.server().address().getPort());
    }

    private static void write(Socket socket, String path, String body) throws IOException {
        String head = "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
                + body.length() + "\r\n\r\n";
        socket.getOutputStream().write((head + body).getBytes(StandardCharsets.US_ASCII));
        socket.getOutputStream().flush();
    }

    private String raw(String request) throws IOException {
        try (var socket = connect()) {
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            var reader = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            return String.join("\n", reader.lines().toList());
        }
    }
}
