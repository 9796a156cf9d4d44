package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import understudy.Waiting;

/** An autoscaler behind a server: replicas, their ports and their series come and go by what clients do. */
final class ServedScalingTest {
    private static final String LONG = "{\"prompt\": \"Hello\", \"max_tokens\": 2000, \"ignore_eos\": true}";

    @AutoClose
    private final ServerFixture server = new ServerFixture();

    @Test
    void replicaThatLoadCallsFor_hasAPortAndSeries_untilTheLoadIsGone() {
        server.portsPerReplica = true;
        // One request on one replica is twice the target of 0.5, and on two replicas it is the target.
        server.moreSettings = """
                scaling {
                  rule = hpa
                  interval = 1s
                  startup-time = 500ms
                  max-replicas = 3
                  hpa { metric = num-requests-running, target = 0.5 }
                  behavior.scale-down.stabilization-window = 0s
                }
                """;
        server.start();
        assertThat(hasSeries(1)).isFalse();

        // 2000 steps of 5 ms are 10 s, or a second of wall time.
        var answer = CompletableFuture.supplyAsync(() -> server.post("/v1/completions", LONG));
        Waiting.until(() -> hasSeries(1) && hasPort(1));
        assertThat(hasSeries(2)).isFalse();

        assertThat(answer.join().status()).isEqualTo(200);
        Waiting.until(() -> !hasSeries(1) && !hasPort(1));
        assertThat(hasSeries(0)).isTrue();
        assertThat(server.post("/v1/completions", LONG).status()).isEqualTo(200);
    }

    private boolean hasSeries(int engine) {
        return server.get("/metrics").text().contains("vllm:num_requests_waiting{engine=\"" + engine + "\"");
    }

    private boolean hasPort(int replica) {
        return server.server().replicaAddresses().containsKey(replica);
    }
}
