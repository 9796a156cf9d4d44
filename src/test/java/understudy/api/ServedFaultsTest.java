package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What clients see when something goes wrong behind the server; a step takes 0.5 ms. */
final class ServedFaultsTest {
    private static final String WHOLE = "{\"prompt\": \"Hello\", \"max_tokens\": 20, \"ignore_eos\": true}";
    private static final String STREAM =
            "{\"prompt\": \"Hello\", \"max_tokens\": 20, \"ignore_eos\": true, \"stream\": true}";

    private final ServerFixture server = new ServerFixture();

    @BeforeEach
    void start() {
        server.numReplicas = 2;
        server.portsPerReplica = true;
        server.start();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void withoutAnyReplica_callsAreToldToComeAgain() {
        assertThat(server.get("/health/ready").status()).isEqualTo(200);
        assertThat(server.post("/admin/replicas/0/crash", "").status()).isEqualTo(200);
        assertThat(server.get("/health/ready").status()).isEqualTo(200);
        assertThat(server.post("/admin/replicas/1/crash", "").status()).isEqualTo(200);

        assertThat(server.get("/health/ready").status()).isEqualTo(503);
        for (String body : new String[] {WHOLE, STREAM}) {
            var refused = server.post("/v1/completions", body);
            assertThat(refused.status()).isEqualTo(503);
            assertThat(refused.headers().firstValue("Retry-After")).contains("2");
            assertThat(refused.json().at("/error/message").asText()).isEqualTo("no replica takes requests");
        }

        server.post("/admin/replicas/1/restart", "");
        server.awaitReady();
        assertThat(server.post("/v1/completions", STREAM).isDone()).isTrue();
    }

    @Test
    void headers_letOneRequestFail() {
        for (String body : new String[] {WHOLE, STREAM}) {
            var failed = server.post("/v1/completions", body, FaultHeaders.FAIL, "true");
            assertThat(failed.status()).isEqualTo(500);
            assertThat(failed.json().at("/error/message").asText()).isEqualTo("this error was asked for");
        }
        assertThat(server.post("/v1/completions", WHOLE).status()).isEqualTo(200);
    }

    @Test
    void cutStream_endsWithoutItsLastChunk() {
        assertThatThrownBy(() -> server.post("/v1/completions", STREAM, FaultHeaders.CUT_AFTER_TOKENS, "5"))
                .isInstanceOf(AssertionError.class);
        assertThat(server.post("/v1/completions", WHOLE, FaultHeaders.CUT_AFTER_TOKENS, "5")
                        .status())
                .isEqualTo(500);
    }

    @Test
    void headerThatMakesNoSense_isNamed() {
        var refused = server.post("/v1/completions", WHOLE, FaultHeaders.DELAY, "soon");

        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.json().at("/error/message").asText()).contains(FaultHeaders.DELAY, "soon");
    }

    @Test
    void replicaThatJoins_hasMetricsOfItsOwn() {
        server.post("/admin/replicas", "");
        server.awaitMetric("understudy_router_decisions_total", "engine=\"2\"", served -> {
            server.post("/v1/completions", WHOLE);
            return served > 0;
        });
    }
}
