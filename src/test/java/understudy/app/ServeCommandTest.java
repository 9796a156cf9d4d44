package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.testkit.EmulatedCluster;

final class ServeCommandTest {

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1, false, http://127.0.0.1:8000",
        "::1, true, https://[0:0:0:0:0:0:0:1]:8000",
        // What a socket for all interfaces says of itself on a machine with IPv6.
        "::, false, http://0.0.0.0:8000"
    })
    void url_canBeTyped(String host, boolean hasTls, String url) throws UnknownHostException {
        var address = new InetSocketAddress(InetAddress.getByName(host), 8000);

        assertThat(ServeCommand.url(address, hasTls)).isEqualTo(url);
    }

    @ParameterizedTest
    @CsvSource({"Qwen/Qwen3-8B, true", "no.conf, false"})
    void modelInPlaceOfAScenario_isPointedToItsCommand(String file, boolean isModel) {
        var called = CommandLineFixture.call("serve", file);

        assertThat(called.exitCode).isEqualTo(2);
        assertThat(called.err)
                .isEqualTo(file + ": no such file"
                        + (isModel ? "; to serve a model of this name: understudy vllm serve " + file : "") + "\n");
    }

    @Test
    void failedEmulation_endsTheProcessWithOneAndAMessage() {
        var said = new StringWriter();
        var cluster = EmulatedCluster.serve("clock.speed = 1");
        cluster.server().api().system().terminate();

        assertThat(ServeCommand.exitCode(cluster.server(), new PrintWriter(said)))
                .isEqualTo(1);
        // An embedded cluster tells its caller, and the process goes on.
        assertThatThrownBy(cluster::close).hasRootCauseMessage("the HTTP server has ended by itself; see the log");
        assertThat(said).asString().contains("the emulation failed").contains("the HTTP server has ended by itself");
    }
}
