package understudy.chaos.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;

/** Ports that no outgoing connection takes. */
final class FreePortsTest {
    /** Linux takes those of connections from 32768 on. */
    @Test
    void portsAreBelowThoseOfConnections_andNoneComesTwice() throws IOException {
        int one = FreePorts.next();
        int other = FreePorts.next();

        assertThat(one).isBetween(1024, 32_767).isNotEqualTo(other);
        assertThat(other).isBetween(1024, 32_767);
    }

    @Test
    void portThatIsTaken_isPassedOver() throws IOException {
        int before = FreePorts.next();
        try (var taken = new ServerSocket()) {
            taken.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), before + 1));

            assertThat(FreePorts.next()).isNotEqualTo(before + 1);
        }
    }
}
