package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What clients find that are no OpenAI clients: old probes, load balancers, service meshes, Prometheus. */
final class HttpEdgeTest {
    @AutoClose
    private final ServerFixture server = new ServerFixture().start();

    @Test
    void http10WithoutHost_isAnswered() throws IOException {
        assertThat(raw("GET /health HTTP/1.0\r\n\r\n")).startsWith("HTTP/1.").contains(" 200 OK\r\n");
        assertThat(raw("GET /v1/models HTTP/1.0\r\n\r\n")).contains("\"id\":\"m\"");
    }

    @Test
    void longHeaders_areTaken() throws IOException {
        String many = "X-Mesh: 1\r\n".repeat(90);
        String cookie = "Cookie: a=" + "b".repeat(32_000) + "\r\n";

        assertThat(raw("GET /ping HTTP/1.0\r\n" + many + cookie + "\r\n")).contains(" 200 OK\r\n");
        assertThat(raw("GET /ping?a=" + "b".repeat(60_000) + " HTTP/1.0\r\n\r\n"))
                .contains(" 200 OK\r\n");
    }

    @ParameterizedTest
    @CsvSource({"1, 33000, 431", "200, 1, 400"})
    void headersBeyondTheLimit_areRefusedInOurWords(int count, int length, int status) throws IOException {
        String headers = ("X-Mesh: " + "b".repeat(length) + "\r\n").repeat(count);

        String answer = raw("GET /ping HTTP/1.0\r\n" + headers + "\r\n");

        assertThat(answer)
                .contains(" " + status + " ")
                .contains("{\"error\":{\"message\":")
                .contains("\"code\":" + status);
    }

    @Test
    void pathBeyondTheLimit_isRefusedInOurWords() throws IOException {
        assertThat(raw("GET /ping?" + "b".repeat(66_000) + " HTTP/1.0\r\n\r\n"))
                .contains(" 414 ")
                .contains("{\"error\":{\"message\":");
    }

    @ParameterizedTest
    @CsvSource({
        "GET, /v1/models/, /v1/models",
        "GET, /v1/models//?a=b%20c, /v1/models?a=b%20c",
        "POST, /v1/chat/completions/, /v1/chat/completions",
        "GET, /health/, /health"
    })
    void slashBehindAPath_isARedirect(String method, String path, String target) {
        var reply = server.send(server.request(path).method(method, HttpRequest.BodyPublishers.noBody()));

        assertThat(reply.status()).isEqualTo(307);
        // Without the host, which a client may have made up, or a proxy.
        assertThat(reply.headers().firstValue("Location")).contains(target);
        assertThat(reply.text()).isEmpty();
    }

    @Test
    void redirect_namesNoHostOfTheClients() throws IOException {
        String answer = raw("GET /v1/models/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");

        assertThat(answer)
                .contains(" 307 ")
                .contains("Location: /v1/models\r\n")
                .doesNotContain("evil");
    }

    /** 2^64 + 29, of which the 29 would be the length of the body. */
    @Test
    void lengthBeyond64Bits_isRefusedAndEndsTheConnection() throws IOException {
        String answer = raw("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Content-Length: 18446744073709551645\r\n\r\n{\"prompt\":\"a\",\"max_tokens\":1}"
                + "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");

        assertThat(answer).startsWith("HTTP/1.1 400 ").contains("{\"error\":{\"message\":");
        assertThat(answer.split("HTTP/1.1 ", -1)).as("one answer").hasSize(2);
    }

    @Test
    void slashBehindAnUnknownPath_isNotFound() {
        assertThat(server.get("/v1/nothing/").status()).isEqualTo(404);
        assertThat(server.get("//").status()).isEqualTo(404);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/v1/models", "/health", "/ping", "/version", "/load"})
    void head_isNotAllowed(String path) {
        assertThat(head(path).status()).isEqualTo(405);
        assertThat(server.get(path).status()).isEqualTo(200);
    }

    @Test
    void metrics_areThereForHeadToo() {
        assertThat(head("/metrics").status()).isEqualTo(200);
        assertThat(server.get("/metrics/").text()).contains("vllm:num_requests_running");
    }

    @Test
    void metrics_areZippedForThoseWhoTakeThat() throws IOException {
        var zipped = bytes("gzip, deflate");
        var plain = bytes("identity");

        assertThat(zipped.headers().firstValue("Content-Encoding")).contains("gzip");
        assertThat(zipped.headers().firstValue("Vary")).contains("Accept-Encoding");
        var text = new String(
                new GZIPInputStream(new ByteArrayInputStream(zipped.body())).readAllBytes(), StandardCharsets.UTF_8);
        assertThat(text).contains("vllm:num_requests_running");
        assertThat(zipped.body().length).isLessThan(plain.body().length);
        assertThat(plain.headers().firstValue("Content-Encoding")).isEmpty();
        assertThat(server.get("/metrics").headers().firstValue("Content-Encoding"))
                .isEmpty();
        assertThat(server.get("/metrics", "Accept-Encoding", "gzip;q=0")
                        .headers()
                        .firstValue("Content-Encoding"))
                .isEmpty();
    }

    @Test
    void streamOfTokens_isNeverZipped() {
        var reply = server.post(
                "/v1/completions",
                "{\"prompt\": \"a\", \"stream\": true, \"max_tokens\": 3}",
                "Accept-Encoding",
                "gzip",
                "Content-Type",
                "application/json");

        assertThat(reply.headers().firstValue("Content-Encoding")).isEmpty();
        assertThat(reply.isDone()).isTrue();
    }

    private ServerFixture.Reply head(String path) {
        return server.send(server.request(path).method("HEAD", HttpRequest.BodyPublishers.noBody()));
    }

    private HttpResponse<byte[]> bytes(String encodings) throws IOException {
        try {
            return server.client()
                    .send(
                            server.request("/metrics", "Accept-Encoding", encodings)
                                    .GET()
                                    .build(),
                            HttpResponse.BodyHandlers.ofByteArray());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    /** Sends a request as it is, and returns all that comes until the server closes. */
    private String raw(String request) throws IOException {
        var address = server.server().address();
        try (var socket = new Socket(address.getAddress(), address.getPort())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }
}
