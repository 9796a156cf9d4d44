package understudy.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.apache.pekko.http.javadsl.model.AttributeKeys;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.RemoteAddress;
import org.junit.jupiter.api.Test;

/** Lines of the access log, as uvicorn writes them. */
final class AccessLogTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final AccessLog log =
            new AccessLog(new PrintStream(out, true, StandardCharsets.UTF_8), Set.of("/health", "/metrics"));

    private String line(HttpRequest request, int status) {
        out.reset();
        var client = RemoteAddress.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 51234));
        log.logged(
                request.addAttribute(AttributeKeys.remoteAddress, client),
                HttpResponse.create().withStatus(status));
        return out.toString(StandardCharsets.UTF_8).stripTrailing();
    }

    @Test
    void line_isThatOfUvicorn() {
        assertThat(line(HttpRequest.POST("/v1/chat/completions"), 200))
                .isEqualTo("INFO:     127.0.0.1:51234 - \"POST /v1/chat/completions HTTP/1.1\" 200 OK");
        assertThat(line(HttpRequest.GET("/server_info?config_format=json"), 400))
                .isEqualTo(
                        "INFO:     127.0.0.1:51234 - \"GET /server_info?config_format=json HTTP/1.1\" 400 Bad Request");
    }

    @Test
    void path_staysOnItsLine() {
        assertThat(line(HttpRequest.GET("/a%0Ab"), 404))
                .isEqualTo("INFO:     127.0.0.1:51234 - \"GET /a%0Ab HTTP/1.1\" 404 Not Found");
    }

    @Test
    void somePaths_haveNoLine() {
        assertThat(line(HttpRequest.GET("/health"), 200)).isEmpty();
        assertThat(line(HttpRequest.GET("/healthy"), 404)).isNotEmpty();
    }
}
