package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.api.http.FaultHeaders;
import understudy.cluster.Cluster;
import understudy.scenario.EmbeddedScenario;

/** Values that do not fit into virtual time, and what is left of a server whose emulation has failed all the same. */
final class ServedFailureTest {
    private static final String WHOLE = "{\"prompt\": \"a\", \"max_tokens\": 3}";
    private static final String ENDLESS = "{\"prompt\": \"a\", \"max_tokens\": 2000, \"ignore_eos\": true}";

    private final ServerFixture server = new ServerFixture();

    @ParameterizedTest
    @ValueSource(strings = {"99999999999h", "721h", "1e400s", "-1s", "NaNs", "5"})
    void delayBeyondVirtualTime_isRefused(String delay) {
        try (server) {
            server.start();

            var refused = server.post("/v1/completions", WHOLE, FaultHeaders.DELAY, delay);

            assertThat(refused.status()).isEqualTo(400);
            assertThat(refused.json().at("/error/message").asText())
                    .isEqualTo("X-Understudy-Delay is \"" + delay
                            + "\", must be a duration from 0 to 720h with a unit, such as 6.5ms (ns, us, ms, s, m, h)");
            assertThat(server.get("/health").status()).isEqualTo(200);
            assertThat(server.post("/v1/completions", WHOLE).status()).isEqualTo(200);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/admin/faults | {\"do\":\"slow-gpu\",\"replica\":0,\"factor\":2,\"for\":\"999999999h\"} | for is",
                "/admin/faults | {\"do\":\"latency-spike\",\"delay\":\"1e300h\"} | delay is",
                "/admin/clock/advance?by=9999999h | '' | by is",
                "/admin/clock/run?speed=1e400     | '' | speed is",
                "/admin/clock/run?speed=NaN       | '' | speed is"
            })
    void controlBeyondVirtualTime_isRefused(String path, String body, String message) {
        try (server) {
            server.start();

            var refused = server.post(path, body);

            assertThat(refused.status()).isEqualTo(400);
            assertThat(refused.json().at("/error/message").asText()).startsWith(message);
            assertThat(server.get("/admin/status").status()).isEqualTo(200);
            assertThat(server.post("/v1/completions", WHOLE).status()).isEqualTo(200);
        }
    }

    /** 100 years of 365 days are 36,500 days: 20 days, or 480 hours, more than the first step. */
    @Test
    void clock_isNotAdvancedBeyondItsEnd() {
        try (server) {
            server.start();
            server.cluster().advance(Duration.ofDays(36_480));

            var refused = server.post("/admin/clock/advance?by=481h", "");

            assertThat(refused.status()).isEqualTo(400);
            assertThat(refused.json().at("/error/message").asText()).startsWith("virtual time ends after 100 years");
            assertThat(server.post("/admin/clock/advance?by=480h", "").status()).isEqualTo(200);
            server.cluster().resume();
            assertThat(server.post("/v1/completions", WHOLE).status()).isEqualTo(200);
        }
    }

    @Test
    void clockThatHasRunToItsEnd_stillServes() {
        server.speed = 1e17;
        try (server) {
            server.start();

            // Each call takes at least three steps of 5 ms; 100 years at this speed are 32 ns of wall time.
            assertThat(server.post("/v1/completions", WHOLE).status()).isEqualTo(200);
            assertThat(server.post("/v1/completions", WHOLE).status()).isEqualTo(200);
        }
    }

    @Test
    void failedGuardian_makesTheServerUnhealthy_andAnswersWhatWaits() {
        server.speed = 0.01;
        var running = server.startAlone();
        try (server) {
            var waiting = CompletableFuture.supplyAsync(() -> server.post("/v1/completions", ENDLESS));
            server.awaitMetric("vllm:num_requests_running", "", count -> count == 1);

            // To be sent once; nothing that comes from outside leads to a second one.
            running.server()
                    .api()
                    .cluster()
                    .time()
                    .system()
                    .tell(new Cluster.Start(EmbeddedScenario.of("").clusterSpecWithoutRecords()));

            assertThatThrownBy(() -> running.server()
                            .whenFailed()
                            .orTimeout(30, TimeUnit.SECONDS)
                            .join())
                    .isInstanceOf(CompletionException.class)
                    .hasRootCauseMessage("the cluster has been started before");
            assertThat(waiting.join().status()).isEqualTo(500);
            assertFailed();
        }
    }

    /** A thread of the HTTP system that dies keeps the system from ever ending. */
    @Test
    void fatalErrorOfAnHttpThread_isAFailure() {
        var running = server.startAlone();
        try (server) {
            running.server().api().system().executionContext().execute(() -> {
                throw new StackOverflowError("not to be survived");
            });

            assertThatThrownBy(() -> running.server()
                            .whenFailed()
                            .orTimeout(30, TimeUnit.SECONDS)
                            .join())
                    .hasRootCauseMessage("the HTTP server has ended by itself; see the log");
        }
    }

    /** 36,480 days are 20 short of 100 years of 365 days; 720 hours are 30. */
    @Test
    void delaysThatAddUp_areRefusedAtTheEndOfTime_andTheServerGoesOn() {
        server.speed = Double.POSITIVE_INFINITY;
        try (server) {
            server.start();
            server.cluster().advance(Duration.ofDays(36_480));
            server.cluster().resume();

            var refused = server.post("/v1/completions", WHOLE, FaultHeaders.DELAY, "720h");

            assertThat(refused.status()).isEqualTo(400);
            assertThat(refused.json().at("/error/message").asText()).startsWith("virtual time ends after 100 years");
            // Faults have no such limit; what is due after the end of time is due there.
            for (int i = 0; i < 3; i++) {
                server.post("/admin/faults", "{\"do\":\"latency-spike\",\"delay\":\"720h\"}");
                assertThat(server.post("/v1/completions", WHOLE).status()).isEqualTo(200);
            }
        }
    }

    @Test
    void faultHeaderGivenTwice_isRefused() {
        try (server) {
            server.start();

            var refused = server.post(
                    "/v1/completions", WHOLE, FaultHeaders.DELAY, "1ms", FaultHeaders.DELAY, "99999999999h");

            assertThat(refused.status()).isEqualTo(400);
            assertThat(refused.json().at("/error/message").asText()).contains("given more than once");
        }
    }

    /** Replicas that join have no port above 65535; the emulation goes on. */
    @Test
    void replicaWithoutAPort_isNoFailure() {
        server.portsPerReplica = true;
        server.moreSettings = "server.port = 65534";
        try (server) {
            server.start();

            assertThat(server.post("/admin/replicas", "").status()).isEqualTo(200);
            server.awaitMetric("vllm:num_requests_running", "engine=\"1\"", count -> count == 0);

            assertThat(server.post("/v1/completions", WHOLE).status()).isEqualTo(200);
            assertThat(server.get("/health").status()).isEqualTo(200);
        }
    }

    @Test
    void failedLoop_makesTheServerUnhealthy() {
        var running = server.startAlone();
        try (server) {
            running.server().api().cluster().time().post(() -> {
                throw new IllegalStateException("not to be survived");
            });

            assertThatThrownBy(() -> running.server()
                            .whenFailed()
                            .orTimeout(30, TimeUnit.SECONDS)
                            .join())
                    .hasRootCauseMessage("not to be survived");
            assertFailed();
        }
    }

    private void assertFailed() {
        assertThat(server.get("/health").status()).isEqualTo(503);
        assertThat(server.get("/health/ready").status()).isEqualTo(503);
        assertThat(server.get("/metrics").status()).isEqualTo(200);
        for (String path : new String[] {"/v1/completions", "/admin/replicas/0/crash", "/reset_prefix_cache"}) {
            var refused = server.post(path, WHOLE);
            assertThat(refused.status()).as(path).isEqualTo(500);
            assertThat(refused.json().at("/error/message").asText()).startsWith("The emulation has failed");
        }
    }
}
