package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.cluster.Cluster;
import understudy.workload.Fault;

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
            var waiting =
                    java.util.concurrent.CompletableFuture.supplyAsync(() -> server.post("/v1/completions", ENDLESS));
            server.awaitMetric("vllm:num_requests_running", "", count -> count == 1);

            // No way from outside leads to such a delay.
            running.server()
                    .api()
                    .cluster()
                    .time()
                    .system()
                    .tell(new Cluster.InjectLater(Duration.ofNanos(Long.MAX_VALUE), new Fault.Crash(0)));

            assertThatThrownBy(() -> running.server().whenFailed().join())
                    .isInstanceOf(CompletionException.class)
                    .hasRootCauseMessage(
                            rootMessage(running.server().api().cluster().time().nowNanos()));
            assertThat(waiting.join().status()).isEqualTo(500);
            assertFailed();
        }
    }

    private static String rootMessage(long nowNanos) {
        return "virtual time ends after 292 years, and a timer is to fire later: it is " + nowNanos
                + " ns, and the delay 9223372036854775807 ns";
    }

    @Test
    void failedLoop_makesTheServerUnhealthy() {
        var running = server.startAlone();
        try (server) {
            running.server().api().cluster().time().post(() -> {
                throw new IllegalStateException("not to be survived");
            });

            assertThatThrownBy(() -> running.server().whenFailed().join()).hasRootCauseMessage("not to be survived");
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
