package understudy.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import understudy.api.ServerFixture;

/** A server with 600,000 bytes for bodies: one of 100,000 bytes may be read at a time, since a byte costs six. */
final class BodyLimitsTest {
    private static final String COMPLETIONS = "/v1/completions";

    @AutoClose
    private final ServerFixture server = new ServerFixture();

    private BodyMemory memory;

    @BeforeEach
    void start() {
        server.moreSettings = "server.max-body-memory = 600000";
        server.start();
        memory = server.server().api().bodies().memory();
    }

    @Test
    void bodies_areToldToComeAgainWhenThereIsNoRoom() {
        var others = memory.share();
        others.growTo(300_001);
        var refused = server.post(COMPLETIONS, body(50_000));
        others.shrinkTo(299_000);
        var served = server.post(COMPLETIONS, body(49_000));

        assertThat(refused.status()).isEqualTo(503);
        assertThat(refused.headers().firstValue("Retry-After")).hasValue("2");
        assertThat(refused.json().at("/error/type").asText()).isEqualTo("ServiceUnavailable");
        assertThat(refused.json().at("/error/message").asText()).contains("no memory left for the body");
        assertThat(served.status()).isEqualTo(200);
        awaitBytes(299_000);
    }

    @Test
    void bodyThatCouldNeverBeLetIn_isTooLarge() {
        assertThat(server.post(COMPLETIONS, body(99_900)).status()).isEqualTo(200);
        assertThat(server.post(COMPLETIONS, body(100_100)).status()).isEqualTo(413);
        awaitBytes(0);
    }

    /** 10,000 empty objects are 20,000 tokens of JSON, of 64 bytes each. */
    @Test
    void manySmallValues_costMoreThanTheirBytes() {
        var reply = server.post(COMPLETIONS, "{\"prompt\": \"x\", \"user\": [" + "{},".repeat(11_000) + "{}]}");

        assertThat(reply.status()).isEqualTo(413);
        awaitBytes(0);
    }

    @Test
    void packedBodies_countAsWhatTheyAre() throws IOException {
        var fits = server.post(COMPLETIONS, gzip(body(90_000)), "Content-Encoding", "gzip");
        var isTooMuch = server.post(COMPLETIONS, gzip(body(500_000)), "Content-Encoding", "gzip");
        memory.share().growTo(300_000);
        var findsNoRoom = server.post(COMPLETIONS, gzip(body(90_000)), "Content-Encoding", "gzip");

        assertThat(fits.status()).isEqualTo(200);
        assertThat(isTooMuch.status()).isEqualTo(413);
        assertThat(findsNoRoom.status()).isEqualTo(503);
        awaitBytes(300_000);
    }

    @Test
    void lengthThatIsKnown_isTakenBeforeTheBodyComes_andGivenBackWhenItsClientGoes() throws IOException {
        try (var socket = connect("Content-Length: 50000")) {
            awaitBytes(300_000);
            write(socket, body(20_000));
            awaitBytes(300_000);
        }
        awaitBytes(0);
    }

    @Test
    void lengthThatIsNotKnown_isTakenAsTheBodyGrows_untilThereIsNoRoom() throws IOException {
        try (var socket = connect("Transfer-Encoding: chunked")) {
            write(socket, chunk(10_000));
            awaitBytes(60_000);
            write(socket, chunk(20_000));
            awaitBytes(180_000);
            memory.share().growTo(400_000);
            write(socket, chunk(20_000));
            awaitBytes(400_000);
            write(socket, "0\r\n\r\n");

            String answer = new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII);
            assertThat(answer).isEqualTo("HTTP/1.1 503");
        }
    }

    @Test
    void chunkedBody_whoseClientGoes_isGivenBack() throws IOException {
        try (var socket = connect("Transfer-Encoding: chunked")) {
            write(socket, chunk(10_000));
            awaitBytes(60_000);
        }
        awaitBytes(0);
    }

    /** What is left of a body while its call goes on is counted once. */
    @Test
    void streamedCall_keepsOnlyItsTokens_andThoseUntilItsEnd() throws IOException {
        String body = "{\"stream\": true, \"ignore_eos\": true, \"max_tokens\": 1900, \"prompt\": \"x\", \"user\": \""
                + "x".repeat(40_000) + "\"}";
        try (var socket = connect("Content-Length: " + body.length())) {
            write(socket, body);
            awaitBytes(body.length());
        }
        awaitBytes(0);
    }

    private void awaitBytes(long numBytes) {
        for (int i = 0; i < 2000; i++) {
            if (memory.numBytes() == numBytes) {
                return;
            }
            // Takes as long as a request, without which nothing may happen for a while.
            server.get("/health");
        }
        assertThat(memory.numBytes()).isEqualTo(numBytes);
    }

    private Socket connect(String length) throws IOException {
        var socket = new Socket(
                InetAddress.getLoopbackAddress(), server.server().address().getPort());
        write(
                socket,
                "POST " + COMPLETIONS + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + length
                        + "\r\n\r\n");
        return socket;
    }

    private static void write(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
        socket.getOutputStream().flush();
    }

    private static String chunk(int length) {
        return Integer.toHexString(length) + "\r\n" + "x".repeat(length) + "\r\n";
    }

    private static String body(int length) {
        String begin = "{\"prompt\": \"x\", \"max_tokens\": 1, \"user\": \"";
        return begin + "x".repeat(length - begin.length() - 2) + "\"}";
    }

    private static byte[] gzip(String text) throws IOException {
        var bytes = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(bytes)) {
            gzip.write(text.getBytes(StandardCharsets.UTF_8));
        }
        return bytes.toByteArray();
    }
}
