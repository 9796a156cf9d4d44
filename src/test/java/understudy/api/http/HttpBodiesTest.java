package understudy.api.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.zip.GZIPOutputStream;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import understudy.api.ServerFixture;
import understudy.runtime.Stopwatch;

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

    @Test
    void bodies_mayBeAsLargeAsTheLimitSays() throws IOException {
        try (var large = new ServerFixture()) {
            large.maxBodyBytes = 12_000_000;
            large.start();
            String fits = "{\"prompt\": \"x\", \"max_tokens\": 1, \"user\": \"" + "x".repeat(9_000_000) + "\"}";
            String isTooMuch = "{\"prompt\": \"" + "x".repeat(13_000_000) + "\"}";

            assertThat(large.post(COMPLETIONS, fits).status()).isEqualTo(200);
            assertThat(large.post(COMPLETIONS, gzip(fits), "Content-Encoding", "gzip")
                            .status())
                    .isEqualTo(200);
            assertThat(large.post(COMPLETIONS, isTooMuch).status()).isEqualTo(413);
            assertThat(large.post(COMPLETIONS, gzip(isTooMuch), "Content-Encoding", "gzip")
                            .status())
                    .isEqualTo(413);
        }
    }

    @Test
    void requestWhoseBodyComesLater_arrivesWithItsEnd() throws Exception {
        var api = server.server().api();
        var arrivals = new ArrayList<Arrival>();
        var route = api.bodies().post((request, body) -> {
            arrivals.add(Arrival.of(request, 0));
            return CompletableFuture.completedStage(HttpBodies.json(200, Json.object()));
        });
        var handler = route.handler(api.system());
        var head = Stopwatch.start();
        var atOnce = Arrival.mark(HttpRequest.POST("/").withEntity(ContentTypes.APPLICATION_JSON, "{}"), head);
        var later = atOnce.withEntity(
                HttpEntities.create(ContentTypes.APPLICATION_JSON, Source.single(ByteString.fromString("{}"))));

        assertThat(handler.apply(atOnce).toCompletableFuture().get().status().intValue())
                .isEqualTo(200);
        assertThat(handler.apply(later).toCompletableFuture().get().status().intValue())
                .isEqualTo(200);

        assertThat(arrivals.get(0).since()).isSameAs(head);
        assertThat(arrivals.get(1).since()).isNotSameAs(head);
    }

    private static byte[] gzip(String text) throws IOException {
        var bytes = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(bytes)) {
            gzip.write(text.getBytes(StandardCharsets.UTF_8));
        }
        return bytes.toByteArray();
    }
}
