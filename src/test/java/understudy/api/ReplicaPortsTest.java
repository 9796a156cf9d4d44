package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.api.http.Arrival;

/** Ports of single replicas, which come and go with them, and what the key to {@code /admin} opens. */
final class ReplicaPortsTest {
    private static final String WHOLE = "{\"prompt\": \"Hello\", \"max_tokens\": 5, \"ignore_eos\": true}";

    @AutoClose
    private final ServerFixture server = new ServerFixture();

    @Test
    void replicaThatJoins_hasAPortOfItsOwn_untilItIsRemoved() {
        server.portsPerReplica = true;
        server.start();
        assertThat(server.server().replicaAddresses()).containsOnlyKeys(0);

        server.post("/admin/replicas", "");
        awaitPorts(0, 1);
        int port = port(1);
        assertThat(post(port, "/v1/completions", WHOLE).status()).isEqualTo(200);
        // Asked for at its own port, so it was not the router's choice between two.
        server.cluster().check().hasServed(0, 0).hasServed(1, 1);

        server.post("/admin/replicas/1/remove", "");
        awaitPorts(0);
        awaitClosed(port);
        assertThat(post(port(0), "/v1/completions", WHOLE).status()).isEqualTo(200);
    }

    @Test
    void portsThatAreSet_countUpFromTheClusters() {
        int first = freePorts();
        server.portsPerReplica = true;
        server.moreSettings = "server.port = " + first;
        server.start();

        server.post("/admin/replicas", "");
        awaitPorts(0, 1);

        assertThat(server.server().address().getPort()).isEqualTo(first);
        assertThat(port(0)).isEqualTo(first + 1);
        assertThat(port(1)).isEqualTo(first + 2);
    }

    /** Rank r at the port of the first one + r, as behind an external balancer; the cluster's port is elsewhere. */
    @Test
    void portsOfReplicas_canBeSetApart() {
        int first = freePorts();
        server.numReplicas = 2;
        server.portsPerReplica = true;
        server.moreSettings = "server.replica-port = " + first;
        server.start();

        assertThat(port(0)).isEqualTo(first);
        assertThat(port(1)).isEqualTo(first + 1);
        assertThat(server.server().address().getPort()).isNotIn(first, first + 1);
    }

    @Test
    void rankOfTheHeader_serves() {
        server.numReplicas = 3;
        server.start();

        for (int i = 0; i < 4; i++) {
            assertThat(ranked("2").status()).isEqualTo(200);
        }
        server.cluster().check().hasServed(0, 0).hasServed(1, 0).hasServed(2, 4);

        // What is no number is passed over, as by vLLM, so that the router chooses.
        assertThat(ranked("two").status()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"3", "-1", "4294967298"})
    void rankThatIsNone_isRefusedInTheWordsOfVllm(String rank) {
        server.numReplicas = 3;
        server.start();

        var refused = ranked(rank);

        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.json().at("/error/message").asText())
                .isEqualTo("data_parallel_rank " + rank + " is out of range [0, 3).");
    }

    /** Each port is a server of its own with one rank, as with an external balancer. */
    @Test
    void rankAtAReplicasPort_isZero() {
        server.numReplicas = 2;
        server.portsPerReplica = true;
        server.start();

        assertThat(post(port(1), "/v1/completions", WHOLE, Arrival.RANK, "0").status())
                .isEqualTo(200);
        assertThat(post(port(1), "/v1/completions", WHOLE, Arrival.RANK, "1").status())
                .isEqualTo(400);
        server.cluster().check().hasServed(1, 1);
    }

    private ServerFixture.Reply ranked(String rank) {
        return server.post("/v1/completions", WHOLE, Arrival.RANK, rank);
    }

    @Test
    void responses_nameThePodAndThePort() {
        server.portsPerReplica = true;
        server.moreSettings = "server { pod-name = vllm-0, pod-namespace = inference }";
        server.start();

        for (var reply : List.of(server.get("/health"), server.get("/nothing"), ranked("0"))) {
            assertThat(reply.headers().firstValue("x-inference-pod")).contains("vllm-0");
            assertThat(reply.headers().firstValue("x-inference-namespace")).contains("inference");
            assertThat(reply.headers().firstValue("x-inference-port"))
                    .contains(String.valueOf(server.server().address().getPort()));
        }
        assertThat(post(port(0), "/v1/completions", WHOLE).headers().firstValue("x-inference-port"))
                .contains(String.valueOf(port(0)));
    }

    @Test
    void replicaPort_hasTheControlsOfItsLivePage() {
        server.portsPerReplica = true;
        server.start();

        var status = post(port(0), "/admin/clock/pause", "");

        assertThat(status.status()).isEqualTo(200);
        assertThat(server.cluster().server().api().cluster().time().speed()).isZero();
    }

    @Test
    void adminToken_guardsTheControlsAtEveryPort() {
        server.portsPerReplica = true;
        server.adminToken = "secret";
        server.start();

        for (String path : new String[] {"/admin/status", "/%61dmin/status"}) {
            assertThat(server.get(path).status()).isEqualTo(401);
            assertThat(server.get(path, "Authorization", "Bearer other").status())
                    .isEqualTo(401);
            assertThat(server.get(path, "Authorization", "Bearer secret").status())
                    .isEqualTo(200);
        }
        assertThat(server.get("/admin/status").text()).isEqualTo("{\"error\":\"Unauthorized\"}");
        assertThat(post(port(0), "/admin/clock/pause", "").status()).isEqualTo(401);
        assertThat(server.get("/v1/models").status()).isEqualTo(200);
    }

    private void awaitPorts(Integer... replicas) {
        for (int i = 0; i < 500; i++) {
            server.get("/health");
            if (server.server().replicaAddresses().keySet().equals(Set.of(replicas))) {
                return;
            }
        }
        throw new AssertionError("replicas listen at " + server.server().replicaAddresses());
    }

    private void awaitClosed(int port) {
        for (int i = 0; i < 500; i++) {
            server.get("/health");
            try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                assertThat(socket.isConnected()).isTrue();
            } catch (IOException refused) {
                return;
            }
        }
        throw new AssertionError("port " + port + " is still open");
    }

    private int port(int replica) {
        return server.server().replicaAddresses().get(replica).getPort();
    }

    private ServerFixture.Reply post(int port, String path, String body, String... headers) {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .header("Content-Type", "application/json");
        for (int i = 0; i < headers.length; i += 2) {
            request.header(headers[i], headers[i + 1]);
        }
        return server.send(request.POST(HttpRequest.BodyPublishers.ofString(body)));
    }

    /** Returns the first of three free ports in a row, where the system takes none for outgoing connections. */
    private static int freePorts() {
        int start = 20_000 + (int) (ProcessHandle.current().pid() % 1000) * 10;
        for (int port = start; port < 32_000; port += 3) {
            if (isFree(port) && isFree(port + 1) && isFree(port + 2)) {
                return port;
            }
        }
        throw new AssertionError("no three free ports in a row");
    }

    private static boolean isFree(int port) {
        try (var socket = new ServerSocket(port)) {
            return socket.isBound();
        } catch (IOException taken) {
            return false;
        }
    }
}
