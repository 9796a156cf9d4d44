package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.api.http.FaultHeaders;

/** What reaches a client of a stream that is cut, byte for byte. */
final class CutStreamsTest {
    private static final int NUM_CALLS = 1000;
    private static final int NUM_CLIENTS = 16;
    private static final String CUT_AT_5 = FaultHeaders.CUT_AFTER_TOKENS + ": 5";
    private static final String RESET_AT_5 = FaultHeaders.RESET_AFTER_TOKENS + ": 5";

    private final ServerFixture server = new ServerFixture();

    /**
     * End of a connection.
     *
     * @param text all that has come
     * @param isReset whether it was reset, rather than closed
     */
    private record Seen(String text, boolean isReset) {

        /** Events with a token; each has one. */
        int numTokens() {
            return text.split("\"text\":", -1).length - 1;
        }

        boolean isBrokenOff() {
            return text.startsWith("HTTP/1.1 200 ")
                    && !text.contains("[DONE]")
                    && !text.contains("\r\n0\r\n")
                    && !text.contains("\"finish_reason\":\"");
        }
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private void start(double speed) {
        server.speed = speed;
        server.step = Duration.ofMillis(1);
        server.start();
    }

    @ParameterizedTest
    @ValueSource(doubles = {1, 20, Double.POSITIVE_INFINITY})
    void everyTokenBeforeTheCut_arrives(double speed) throws Exception {
        start(speed);

        var numTokens = new HashMap<Integer, Integer>();
        for (var seen : calls(NUM_CALLS, CUT_AT_5)) {
            assertThat(seen.isReset()).isFalse();
            assertThat(seen.isBrokenOff()).as(seen.text()).isTrue();
            numTokens.merge(seen.numTokens(), 1, Integer::sum);
        }

        assertThat(numTokens).isEqualTo(Map.of(5, NUM_CALLS));
    }

    @ParameterizedTest
    @ValueSource(doubles = {1, 20, Double.POSITIVE_INFINITY})
    void reset_isAnEndOfItsOwn(double speed) throws Exception {
        start(speed);

        for (var seen : calls(NUM_CALLS, RESET_AT_5)) {
            assertThat(seen.isReset()).as(seen.text()).isTrue();
            assertThat(seen.numTokens()).as("the rest may be lost").isLessThanOrEqualTo(5);
        }
    }

    @Test
    void plannedCuts_areOfBothKinds() throws Exception {
        start(20);

        cut(false);
        for (var seen : calls(50)) {
            assertThat(seen.isReset()).isFalse();
            assertThat(seen.isBrokenOff()).as(seen.text()).isTrue();
            assertThat(seen.numTokens()).isEqualTo(3);
        }
        cut(true);
        assertThat(calls(50)).allMatch(Seen::isReset);
    }

    private void cut(boolean isReset) {
        String fault = "{\"do\": \"cut-streams\", \"rate\": 1, \"after-tokens\": 3, \"reset\": " + isReset + "}";
        assertThat(server.post("/admin/faults", fault).status()).isEqualTo(200);
    }

    @Test
    void streamOfACrashedReplica_endsAsACutOneDoes() throws Exception {
        start(1);
        var pool = Executors.newSingleThreadExecutor();
        try {
            var open = pool.submit(() -> call(1900));
            server.awaitMetric("vllm:generation_tokens_total", "", count -> count >= 10);
            server.post("/admin/replicas/0/crash", "");

            var seen = open.get();
            assertThat(seen.isReset()).isFalse();
            assertThat(seen.isBrokenOff()).isTrue();
            assertThat(seen.numTokens()).isBetween(10, 1899);
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    void secondCallOfAConnection_isCutLikeTheFirst() throws Exception {
        start(20);
        try (var socket = new Socket(
                InetAddress.getLoopbackAddress(), server.server().address().getPort())) {
            socket.getOutputStream().write((request(2) + request(50, CUT_AT_5)).getBytes(StandardCharsets.US_ASCII));
            var seen = read(socket);

            assertThat(seen.isReset()).isFalse();
            assertThat(seen.text()).containsOnlyOnce("[DONE]");
            // Two events of the first, the second of which says why it ends; and five of the second.
            assertThat(seen.numTokens()).isEqualTo(2 + 5);
        }
    }

    private List<Seen> calls(int count, String... headers) throws Exception {
        var pool = Executors.newFixedThreadPool(NUM_CLIENTS);
        try {
            Callable<Seen> call = () -> call(50, headers);
            var all =
                    pool.invokeAll(IntStream.range(0, count).mapToObj(i -> call).toList());
            var seen = new ArrayList<Seen>();
            for (var one : all) {
                seen.add(one.get());
            }
            return seen;
        } finally {
            pool.shutdownNow();
        }
    }

    private Seen call(int maxTokens, String... headers) throws IOException {
        try (var socket = new Socket(
                InetAddress.getLoopbackAddress(), server.server().address().getPort())) {
            socket.setSoTimeout(30_000);
            socket.getOutputStream().write(request(maxTokens, headers).getBytes(StandardCharsets.US_ASCII));
            return read(socket);
        }
    }

    /** There are no chunks then, and nothing to tell a cut answer by but its content. */
    @Test
    void callOfHttp10_isCutToo() throws Exception {
        start(20);
        try (var socket = new Socket(
                InetAddress.getLoopbackAddress(), server.server().address().getPort())) {
            String request = request(50, CUT_AT_5).replace("HTTP/1.1", "HTTP/1.0");
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            var seen = read(socket);

            assertThat(seen.isReset()).isFalse();
            assertThat(seen.text()).doesNotContain("[DONE]").doesNotContain("\"finish_reason\":\"");
            assertThat(seen.numTokens()).isEqualTo(5);
        }
    }

    private static String request(int maxTokens, String... headers) {
        String body = "{\"prompt\":\"a\",\"stream\":true,\"ignore_eos\":true,\"max_tokens\":" + maxTokens + "}";
        String more = Stream.of(headers).map(header -> header + "\r\n").collect(Collectors.joining());
        return "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + more
                + "Content-Length: " + body.length() + "\r\n\r\n" + body;
    }

    private static Seen read(Socket socket) {
        var received = new ByteArrayOutputStream();
        boolean isReset = false;
        try {
            socket.getInputStream().transferTo(received);
        } catch (SocketException e) {
            isReset = true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new Seen(received.toString(StandardCharsets.UTF_8), isReset);
    }
}
