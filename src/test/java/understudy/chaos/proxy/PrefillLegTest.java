package understudy.chaos.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import understudy.chaos.wire.HttpHead;
import understudy.json.Jackson;

/** What the two engines of a pair are asked. */
@Timeout(30)
final class PrefillLegTest {
    private static final HttpHead HEAD = new HttpHead("POST /v1/chat/completions HTTP/1.1", List.of("Host: r"));
    private static final String CALL =
            "{\"model\":\"m\",\"max_tokens\":12,\"max_completion_tokens\":12,\"stream\":true,"
                    + "\"stream_options\":{\"include_usage\":true}}";

    private final CompletableFuture<String> asked = new CompletableFuture<>();
    private volatile int status = 200;
    private HttpServer engine;
    private PrefillLeg leg;

    @BeforeEach
    void start() throws IOException {
        engine = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        engine.createContext("/v1/chat/completions", exchange -> {
            asked.complete(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            byte[] answer = "{\"kv_transfer_params\":{\"remote_engine_id\":\"e\"}}".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        engine.start();
        leg = new PrefillLeg(engine.getAddress());
    }

    @AfterEach
    void stop() {
        engine.stop(0);
    }

    private JsonNode prefilled() throws IOException {
        return Jackson.mapper().readTree(leg.prefilled(HEAD, CALL.getBytes(StandardCharsets.UTF_8), () -> {}));
    }

    @Test
    void oneTokenIsAskedForAndWhereTheBlocksAreGoesOn() throws IOException {
        var decode = prefilled();

        assertThat(Jackson.mapper().readTree(asked.join()))
                .isEqualTo(Jackson.mapper()
                        .readTree("{\"model\":\"m\",\"max_tokens\":1,\"max_completion_tokens\":1,\"stream\":false,"
                                + "\"kv_transfer_params\":{\"do_remote_decode\":true,\"do_remote_prefill\":false}}"));
        assertThat(decode)
                .isEqualTo(Jackson.mapper()
                        .readTree(CALL.replaceFirst("}$", ",\"kv_transfer_params\":{\"remote_engine_id\":\"e\"}}")));
    }

    @Test
    void engineThatFailsFailsTheCall() {
        status = 503;

        assertThatThrownBy(this::prefilled).isInstanceOf(IOException.class);
    }

    @Test
    void callWaitsBetweenTheEnginesWhileItIsHeld() {
        leg.hold();
        var call = CompletableFuture.supplyAsync(() -> {
            try {
                return prefilled();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        while (!leg.isHeld()) {
            Thread.onSpinWait();
        }
        assertThat(asked).isDone();
        assertThat(call).isNotDone();

        leg.release();

        assertThat(call).succeedsWithin(20, TimeUnit.SECONDS);
        assertThat(leg.isHeld()).isFalse();
    }
}
