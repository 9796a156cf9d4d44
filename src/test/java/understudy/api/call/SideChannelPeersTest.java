package understudy.api.call;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who may be asked for KV. */
final class SideChannelPeersTest {
    @ParameterizedTest
    @CsvSource({
        // On one machine, as in the manual.
        "127.0.0.1, 127.0.0.1, true",
        "127.0.0.1, localhost, true",
        "localhost, ::1, true",
        "127.0.0.1, 10.0.0.7, false",
        // In a pod: those of its cluster, not its neighbours in the pod, nor the cloud's metadata.
        "10.244.1.5, 10.244.1.5, true",
        "10.244.1.5, 10.244.9.1, true",
        "10.244.1.5, 10.245.1.5, false",
        "10.244.1.5, 127.0.0.1, false",
        "10.244.1.5, localhost, false",
        "10.244.1.5, 169.254.169.254, false",
        "100.64.3.2, 100.64.200.1, true",
        "fd00:1:2:3::5, fd00:1:2:3::9, true",
        "fd00:1:2:3::5, fd00:1:2:4::9, false",
        // Public addresses have no network of their own.
        "203.0.113.5, 203.0.113.5, true",
        "203.0.113.5, 203.0.113.6, false"
    })
    void auto_isThisMachineOrItsCluster(String own, String peer, boolean isOne) {
        assertThat(SideChannelPeers.read("auto", own)
                        .orElseThrow()
                        .find(peer, 5600)
                        .isPresent())
                .isEqualTo(isOne);
    }

    @ParameterizedTest
    @CsvSource({
        "10.0.0.0/8, 10.9.8.7, 1, true",
        "10.0.0.0/8, 11.0.0.1, 1, false",
        "10.1.2.3, 10.1.2.3, 1, true",
        "10.1.2.3, 10.1.2.4, 1, false",
        "127.0.0.1:5600, 127.0.0.1, 5600, true",
        "127.0.0.1:5600, 127.0.0.1, 5601, false",
        "localhost, localhost, 5600, true",
        "localhost, LOCALHOST, 5600, true",
        "[::1]:7, ::1, 7, true",
        "*, 127.0.0.1, 1, true",
        "'10.0.0.1, 10.0.0.2', 10.0.0.2, 1, true"
    })
    void list_hasHostsPortsAndNetworks(String peers, String host, int port, boolean isOne) {
        assertThat(SideChannelPeers.read(peers, "127.0.0.1")
                        .orElseThrow()
                        .find(host, port)
                        .isPresent())
                .isEqualTo(isOne);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "10.0.0.0/33", "a b", "host/8", "host:x", "a,,b"})
    void otherTexts_areNoList(String text) {
        assertThat(SideChannelPeers.read(text, "127.0.0.1")).isEmpty();
    }

    @Test
    void nameThatIsNotListed_isNotLookedUp() {
        var peers = SideChannelPeers.read("10.0.0.0/8", "127.0.0.1").orElseThrow();

        assertThat(peers.find("localhost.example", 1)).isEmpty();
    }
}
