package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.api.call.ApiSettings;
import understudy.scenario.EmbeddedScenario;

/** Ports of a server and of its replicas, its names in a cluster, and its side channel. */
final class ServerSettingsTest {
    private static ApiSettings read(String settings) {
        return EmbeddedScenario.of(settings).server();
    }

    @ParameterizedTest
    @CsvSource({"8000, auto, 8001", "0, auto, 0", "9000, 8000, 8000", "8004, 8000, 8000", "8000, 0, 0", "0, 8000, 8000"
    })
    void replicaPorts_countUpFromTheFirst(int port, String replicaPort, int first) {
        var settings = read("cluster.replicas = 4, server { ports-per-replica = true, port = " + port
                + ", replica-port = " + replicaPort + " }");

        assertThat(settings.firstReplicaPort()).hasValue(first);
    }

    @Test
    void replicas_haveNoPortsByDefault() {
        assertThat(read("").firstReplicaPort()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            replica-port = 8000                                             | server.replica-port is 8000, which needs
            ports-per-replica = true, port = 8003, replica-port = 8000      | but server.port = 8003 is one of the replicas'
            ports-per-replica = true, replica-port = 65533                  | server.replica-port is 65533, which leaves no ports
            ports-per-replica = true, port = 65533                          | server.port is 65533, which leaves no ports
            ports-per-replica = true, replica-port = 65536                  | server.replica-port is 65536
            pod-name = "a b"                                                | must be auto, empty, or letters, digits
            side-channel-port = 70000                                       | server.side-channel-port is 70000
            max-num-queued-reqs = -1                                        | server.max-num-queued-reqs is -1
            max-num-queued-reqs = 2 }, engine { kind = sglang               | which SGLang's server does not have; see engine
            max-num-queued-tokens = 2 }, engine { kind = sglang             | server.max-num-queued-tokens is 2, which SGLang's
            """)
    void badValues_areNamed(String server, String message) {
        assertThatThrownBy(() -> read("cluster.replicas = 4, server { " + server + " }"))
                .hasMessageContaining(message);
    }

    @Test
    void sideChannel_isThereWithAConnectorOnly() {
        assertThat(read("").sideChannel()).isEmpty();
        assertThat(read("server { side-channel-port = 5600, side-channel-host = prefill-0 }")
                        .sideChannel())
                .isEmpty();
        var sideChannel = read("kv-cache.transfer.kv-connector = nixl, latency.tensor-parallel-size = 2,"
                        + " server { side-channel-port = 5600, side-channel-host = prefill-0 }")
                .sideChannel()
                .orElseThrow();
        assertThat(sideChannel.port()).isEqualTo(5600);
        assertThat(sideChannel.host()).isEqualTo("prefill-0");
        assertThat(sideChannel.tensorParallelSize()).isEqualTo(2);
    }

    /** Others cannot call the address that stands for all. */
    @ParameterizedTest
    @CsvSource({"0.0.0.0", "'::'"})
    void sideChannelOfAServerAtAllAddresses_isAtTheMachines(String host) {
        var settings =
                read("kv-cache.transfer.kv-connector = nixl, server { admin-token = t, host = \"" + host + "\" }");

        assertThat(settings.sideChannel().orElseThrow().host()).isNotBlank().isNotEqualTo(host);
    }

    @Test
    void connector_isTheSameForAllGroups() {
        assertThatThrownBy(() ->
                        read("cluster.groups = [{ name = a, replicas = 1, kv-cache.transfer.kv-connector = nixl }]"))
                .hasMessageContaining("cluster.groups.0.kv-cache.transfer.kv-connector is the same for all groups");
    }

    @Test
    void connector_needsBlocksByContent() {
        assertThatThrownBy(() -> read("kv-cache { transfer.kv-connector = nixl, sessions = detailed }"))
                .hasMessageContaining("groups with roles and kv-connector = nixl");
    }
}
