package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

final class HttpBodiesTest {
    private static final String COMPLETIONS = "/v1/completions";

    @AutoClose
    private final ServerFixture server = new ServerFixture().start();

    @Test
    void bodies_mayBeCompressed() throws IOException {
        var good = server.post(COMPLETIONS, gzip("{\"prompt\": \"x\"}"), "Content-Encoding", "gzip");
        var broken = server.post(COMPLETIONS, "not gzip".getBytes(StandardCharsets.UTF_8), "Content-Encoding", "gzip");
        var unknown = server.post(COMPLETIONS, "{}", "Content-Encoding", "br");
        var bomb = server.post(
                COMPLETIONS, gzip("{\"prompt\": \"" + "x".repeat(2_000_000) + "\"}"), "Content-Encoding", "gzip");

        assertThat(good.status()).isEqualTo(200);
        assertThat(broken.status()).isEqualTo(400);
        assertThat(broken.json().at("/error/message").asText()).contains("encoding is corrupt");
        assertThat(unknown.status()).isEqualTo(415);
        assertThat(unknown.json().at("/error/message").asText()).isEqualTo("Content-Encoding must be gzip or deflate.");
        assertThat(bomb.status()).isEqualTo(413);
    }

    /** The answer must not be lost in a connection that is closed on a client who has not finished sending. */
    @Test
    void bodyThatIsTooLarge_isReadBeforeItIsRefused() {
        // As limited as the fixture's: 1 MiB. What one send buffer holds would be no test.
        var body = "x".repeat(30_000_000).getBytes(StandardCharsets.UTF_8);

        for (int i = 0; i < 5; i++) {
            assertThat(server.post(COMPLETIONS, body).status()).isEqualTo(413);
        }
    }

    private static byte[] gzip(String text) throws IOException {
        var bytes = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(bytes)) {
            gzip.write(text.getBytes(StandardCharsets.UTF_8));
        }
        return bytes.toByteArray();
    }
}
