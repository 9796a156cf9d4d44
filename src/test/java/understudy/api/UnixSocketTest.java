package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server at a Unix domain socket, and below a path. */
@Timeout(60)
final class UnixSocketTest {
    @TempDir
    private Path directory;

    private Path path() {
        return directory.resolve("v.sock");
    }

    private ServerFixture start() {
        var server = new ServerFixture();
        server.moreSettings = "server { uds = \"" + path() + "\", root-path = /llm }";
        return server.start();
    }

    /** Sends a request, and returns all that comes until the server closes the connection. */
    private String ask(String method, String target, String body) throws IOException {
        byte[] bytes = (method + " " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                        + "Content-Type: application/json\r\nContent-Length: " + body.length() + "\r\n\r\n" + body)
                .getBytes(StandardCharsets.UTF_8);
        try (var channel = SocketChannel.open(UnixDomainSocketAddress.of(path()))) {
            var buffer = ByteBuffer.wrap(bytes);
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
            return new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void socket_answersAsThePortDoes() throws IOException {
        try (var server = start()) {
            assertThat(ask("GET", "/v1/models", ""))
                    .startsWith("HTTP/1.1 200 OK")
                    .contains("\"id\":\"m\"");
            assertThat(ask("POST", "/v1/completions", "{\"prompt\": \"x\", \"max_tokens\": 3, \"stream\": true}"))
                    .endsWith("0\r\n\r\n")
                    .contains("data: [DONE]");
            assertThat(server.get("/v1/models").status()).isEqualTo(200);
        }
        assertThat(path()).doesNotExist();
    }

    /** More than the buffer of 32 KiB, both ways, in eight connections at a time. */
    @Test
    void largeBodies_passUnchanged() {
        String text = "a b c d ".repeat(20_000);
        String body = "{\"prompt\": \"" + text + "\"}";
        try (var server = start()) {
            String direct = server.post("/tokenize", body).text();

            var answers = IntStream.range(0, 8)
                    .parallel()
                    .mapToObj(i -> {
                        try {
                            return ask("POST", "/tokenize", body);
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    })
                    .toList();

            assertThat(direct).hasSizeGreaterThan(100_000);
            assertThat(answers).allMatch(answer -> answer.endsWith(direct));
        }
    }

    @Test
    void pathOfAProxy_isLeftOutOrNot() throws IOException {
        try (var server = start()) {
            assertThat(server.get("/llm/v1/models").status()).isEqualTo(200);
            assertThat(server.get("/llm/health").status()).isEqualTo(200);
            assertThat(server.get("/llm/v1/completions").status()).isEqualTo(405);
            assertThat(server.get("/llmv1/models").status()).isEqualTo(404);
            assertThat(server.get("/other/v1/models").status()).isEqualTo(404);
        }
    }

    /** What is below the path asks for the same keys. */
    @Test
    void pathOfAProxy_opensNothing() {
        try (var server = new ServerFixture()) {
            server.moreSettings = "server.root-path = /llm";
            server.apiKey = "k";
            server.start();

            assertThat(server.get("/llm/v1/models").status()).isEqualTo(401);
            assertThat(server.get("/llm/v1/models", "Authorization", "Bearer k").status())
                    .isEqualTo(200);
        }
    }

    /** A process that was killed leaves its socket behind; one that is there is not pushed aside. */
    @Test
    void socketOfADeadProcess_isReplaced_andThatOfALivingOneIsNot() throws IOException {
        try (var dead = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            dead.bind(UnixDomainSocketAddress.of(path()));
        }
        assertThat(path()).exists();

        try (var server = start()) {
            assertThat(ask("GET", "/health", "")).startsWith("HTTP/1.1 200 OK");
            var address = server.server().address();
            assertThatThrownBy(() -> UnixSocket.open(path(), address)).isInstanceOf(UncheckedIOException.class);
            assertThat(ask("GET", "/health", "")).startsWith("HTTP/1.1 200 OK");
        }
    }

    @Test
    void fileThatIsThere_isKept() throws IOException {
        Files.writeString(path(), "mine");

        assertThatThrownBy(this::start).hasStackTraceContaining("v.sock");
        assertThat(path()).hasContent("mine");
    }
}
