package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** What a kubelet, a router and Prometheus see of a replica that has crashed or starts; a step takes 0.5 ms. */
final class ReplicaProbesTest {
    private static final String WHOLE = "{\"prompt\": \"Hello\", \"max_tokens\": 5, \"ignore_eos\": true}";

    @AutoClose
    private final ServerFixture server = new ServerFixture();

    @Test
    void crashedReplica_refusesConnections_untilItIsUpAgain() {
        start("");
        int port = port(1);
        assertThat(get(port, "/health").status()).isEqualTo(200);

        server.post("/admin/replicas/1/crash", "");
        await(() -> !accepts(port));
        assertThat(server.get("/health").status()).isEqualTo(200);
        server.post("/admin/replicas/1/restart", "");

        await(() -> server.server().replicaAddresses().containsKey(1));
        assertThat(port(1)).isEqualTo(port);
        assertThat(get(port, "/health").status()).isEqualTo(200);
        assertThat(post(port, "/v1/completions", WHOLE).status()).isEqualTo(200);
    }

    @Test
    void startingReplica_refusesConnections_untilItIsReady() {
        start("faults.startup-time = 30s");
        int port = port(1);
        server.post("/admin/replicas/1/crash", "");
        await(() -> !accepts(port));
        server.post("/admin/clock/pause", "");

        server.post("/admin/replicas/1/restart", "");
        server.post("/admin/clock/advance?by=29s", "");
        assertThat(accepts(port)).isFalse();
        server.post("/admin/clock/advance?by=1s", "");

        await(() -> accepts(port));
    }

    @Test
    void crashedReplica_saysOnHealthThatItIsDown_ifItKeepsItsPort() {
        start("server.down-replicas = unhealthy");
        int port = port(1);

        server.post("/admin/replicas/1/crash", "");

        assertThat(get(port, "/health").status()).isEqualTo(503);
        assertThat(get(port, "/health/ready").status()).isEqualTo(503);
        assertThat(post(port, "/v1/completions", WHOLE).status()).isEqualTo(503);
        server.post("/admin/replicas/1/restart", "");
        await(() -> get(port, "/health").status() == 200);
        assertThat(get(port, "/health/ready").status()).isEqualTo(200);
    }

    @Test
    void allReplicasDown_makeTheClusterUnready() {
        start("");
        server.post("/admin/replicas/0/crash", "");
        assertThat(server.get("/health").status()).isEqualTo(200);
        assertThat(server.get("/health/ready").status()).isEqualTo(200);

        server.post("/admin/replicas/1/crash", "");

        assertThat(server.get("/health").status()).isEqualTo(503);
        assertThat(server.get("/health/ready").status()).isEqualTo(503);
        server.post("/admin/replicas/0/restart", "");
        server.awaitReady();
        assertThat(server.get("/health").status()).isEqualTo(200);
    }

    /** To drain or remove the last replica is meant: the process is well, and takes no requests. */
    @Test
    void drainedCluster_isHealthyButNotReady() {
        start("");

        server.post("/admin/replicas/0/remove", "");
        server.post("/admin/replicas/1/drain", "");

        assertThat(server.get("/health").status()).isEqualTo(200);
        assertThat(server.get("/health/ready").status()).isEqualTo(503);
    }

    @Test
    void seriesOfACrashedReplica_vanish_andBeginAtZeroAgain() {
        start("server.down-replicas = unhealthy");
        int port = port(1);
        post(port, "/v1/completions", WHOLE);
        post(port, "/v1/completions", WHOLE);
        server.awaitMetric("vllm:request_success_total", "engine=\"1\"", count -> count == 2);
        assertThat(server.metric("vllm:generation_tokens_total", "engine=\"1\""))
                .isEqualTo(10);

        server.post("/admin/replicas/1/crash", "");
        await(() -> !metrics().contains("engine=\"1\",model_name"));
        // Those of the others stay, and so does what the router counts of its own.
        assertThat(metrics()).contains("vllm:num_requests_running{engine=\"0\"");
        assertThat(metrics()).doesNotContain("vllm:cache_config_info{_block_size_resolved=\"True\",engine=\"1\"");
        assertThat(get(port, "/metrics").text()).doesNotContain("vllm:num_requests_running{");
        server.post("/admin/replicas/1/restart", "");

        await(() -> metrics().contains("vllm:num_requests_running{engine=\"1\""));
        assertThat(server.metric("vllm:generation_tokens_total", "engine=\"1\""))
                .isZero();
        assertThat(server.metric("vllm:prefix_cache_queries_total", "engine=\"1\""))
                .isZero();
        post(port, "/v1/completions", WHOLE);
        // One more call of 5 tokens since the restart; the router has sent three in all.
        server.awaitMetric("vllm:generation_tokens_total", "engine=\"1\"", count -> count == 5);
        server.awaitMetric("understudy_router_decisions_total", "engine=\"1\"", count -> count == 3);
    }

    private String metrics() {
        return server.get("/metrics").text();
    }

    private void start(String settings) {
        server.numReplicas = 2;
        server.portsPerReplica = true;
        server.moreSettings = settings;
        server.start();
    }

    /** Asks again and again; each turn is a call, so that time passes. */
    private void await(BooleanSupplier isSo) {
        for (int i = 0; i < 1000; i++) {
            if (isSo.getAsBoolean()) {
                return;
            }
            server.get("/version");
        }
        throw new AssertionError("it has not come");
    }

    private static boolean accepts(int port) {
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException refused) {
            return false;
        }
    }

    private int port(int replica) {
        return server.server().replicaAddresses().get(replica).getPort();
    }

    private ServerFixture.Reply get(int port, String path) {
        return server.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .GET());
    }

    private ServerFixture.Reply post(int port, String path, String body) {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .header("Content-Type", "application/json");
        return server.send(request.POST(HttpRequest.BodyPublishers.ofString(body)));
    }
}
