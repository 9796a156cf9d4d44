package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A server with little memory, and clients that send far more at a time than it has. */
@Tag("slow")
final class LargeBodiesProcessTest {
    private static final int NUM_CLIENTS = 100;
    private static final int NUM_BYTES = 15_000_000;
    private static final String COMPLETIONS = "/v1/completions";
    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /** A body in pieces, since a hundred whole ones at a time would be much for a test as well. */
    private record Body(String path, String begin, String piece, String end) {
        void write(OutputStream out) throws IOException {
            byte[] bytes = piece.getBytes(StandardCharsets.UTF_8);
            int numPieces = NUM_BYTES / bytes.length;
            int length = begin.length() + numPieces * bytes.length + end.length();
            String head = "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                    + "Connection: close\r\nContent-Length: " + length + "\r\n\r\n";
            out.write((head + begin).getBytes(StandardCharsets.UTF_8));
            for (int i = 0; i < numPieces; i++) {
                out.write(bytes);
            }
            out.write(end.getBytes(StandardCharsets.UTF_8));
        }
    }

    private record Answer(int status, String head) {}

    private static final List<Body> BODIES = List.of(
            new Body(COMPLETIONS, "{\"prompt\":\"", "a".repeat(10_000), "\"}"),
            new Body(COMPLETIONS, "{\"max_tokens\":1,\"prompt\":\"", " ".repeat(10_000), "\"}"),
            new Body(COMPLETIONS, "{\"prompt\":\"", "{\\\"key\\\": [1, 2, 3]}\\n".repeat(500), "\"}"),
            new Body(
                    "/v1/chat/completions",
                    "{\"messages\":[{\"role\":\"user\",\"content\":\"",
                    "the quick brown fox ".repeat(500),
                    "\"}]}"),
            new Body("/v1/responses", "{\"input\":\"", "一二三".repeat(1000), "\"}"),
            new Body("/tokenize", "{\"prompt\":\"", "\\u0001".repeat(1000), "\"}"),
            new Body(COMPLETIONS, "{\"prompt\":[1", ",1000".repeat(1000), "]}"),
            new Body(COMPLETIONS, "{\"prompt\":\"x\",\"user\":[{}", ",{}".repeat(1000), "]}"));

    @Test
    void hundredLargeBodiesAtOnce_areAnsweredOrRefused_andTheServerLives() throws Exception {
        var process = ProcessFixture.command("-Xmx512m", "-XX:-UseSerialGC", "serve", "conf/serve.conf", "--port", "0")
                .redirectErrorStream(true)
                .start();
        var clients = Executors.newFixedThreadPool(NUM_CLIENTS + 1);
        try (var out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            String address = out.readLine();
            assertThat(out.readLine()).startsWith("ready");
            var uri = URI.create(address.substring(address.indexOf("http")));
            var isOver = new AtomicBoolean();
            var slowestHealth = clients.submit(() -> askForHealth(uri, isOver));
            var answers = new ArrayList<Future<Answer>>();
            for (int i = 0; i < NUM_CLIENTS; i++) {
                var body = BODIES.get(i % BODIES.size());
                answers.add(clients.submit(() -> send(uri, body)));
            }
            var byStatus = new TreeMap<Integer, Integer>();
            for (var each : answers) {
                var answer = each.get();
                byStatus.merge(answer.status(), 1, Integer::sum);
                assertThat(answer.status()).isIn(200, 400, 413, 503);
                assertThat(answer.head().contains("Retry-After: ")).isEqualTo(answer.status() == 503);
            }
            isOver.set(true);
            System.out.println("answers by status: " + byStatus + "; slowest /health: " + slowestHealth.get() + " ms");

            assertThat(process.isAlive()).isTrue();
            assertThat(post(uri, "{\"prompt\": \"x\", \"max_tokens\": 2}").statusCode())
                    .isEqualTo(200);
            assertThat(post(uri, "{\"prompt\": \"" + "a word ".repeat(100_000) + "\", \"max_tokens\": 2}")
                            .body())
                    .contains("maximum context length");
        } finally {
            clients.shutdownNow();
            process.destroyForcibly();
        }
    }

    private static long askForHealth(URI uri, AtomicBoolean isOver) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(uri.resolve("/health")).build();
        long slowestNanos = 0;
        while (!isOver.get()) {
            long begin = System.nanoTime();
            assertThat(CLIENT.send(request, HttpResponse.BodyHandlers.discarding())
                            .statusCode())
                    .isEqualTo(200);
            slowestNanos = Math.max(slowestNanos, System.nanoTime() - begin);
            TimeUnit.MILLISECONDS.sleep(20);
        }
        return TimeUnit.NANOSECONDS.toMillis(slowestNanos);
    }

    private static Answer send(URI uri, Body body) throws IOException {
        try (var socket = new Socket(InetAddress.getByName(uri.getHost()), uri.getPort())) {
            body.write(socket.getOutputStream());
            String answer = new String(socket.getInputStream().readNBytes(2000), StandardCharsets.UTF_8);
            return new Answer(Integer.parseInt(answer.substring(9, 12)), answer);
        }
    }

    private static HttpResponse<String> post(URI uri, String body) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(uri.resolve(COMPLETIONS))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        return CLIENT.send(request, HttpResponse.BodyHandlers.ofString());
    }
}
