package understudy.chaos.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import understudy.chaos.gateway.GatewayUnderTest.Backend;
import understudy.chaos.gateway.GatewayUnderTest.Setup;

final class CommandGatewayTest {
    @TempDir
    private Path directory;

    private @Nullable Path ca;

    private Setup setup(int port) {
        return new Setup(
                port,
                List.of(
                        new Backend("a", URI.create("http://127.0.0.1:9001"), null),
                        new Backend("b", URI.create("http://127.0.0.1:9002"), null)),
                directory,
                ca);
    }

    @Test
    void placeholdersAreFilledInAndEndsAreReported() throws IOException {
        var template = Files.writeString(directory.resolve("t.conf"), "first {backend0} all {backends}\n");
        var gateway = new CommandGateway("cat {config} && echo at {port} {backend1}; exit 3", template);

        assertThatThrownBy(() -> gateway.start(setup(1)))
                .isInstanceOf(IOException.class)
                .hasMessage("the gateway has ended with code 3; its log ends: first 127.0.0.1:9001 all"
                        + " 127.0.0.1:9001,127.0.0.1:9002 | at 1 127.0.0.1:9002");
    }

    @Test
    void authorityAndSchemeAreFilledIn() {
        var gateway = new CommandGateway("echo {scheme} [{ca}]; exit 3", null);

        assertThatThrownBy(() -> gateway.start(setup(1))).hasMessageEndingWith("its log ends: http []");
        ca = directory.resolve("ca.pem");
        assertThatThrownBy(() -> gateway.start(setup(1))).hasMessageEndingWith("https [" + ca + "]");
    }

    /** The byte 255 is in no text of UTF-8. Of 20,001 lines the last five are told. */
    @Test
    void logOfAnyLengthAndBytesIsReported() {
        var gateway = new CommandGateway("seq 20000; printf '\\377\\n'; exit 3", null);

        assertThatThrownBy(() -> gateway.start(setup(1)))
                .isInstanceOf(IOException.class)
                .hasMessage("the gateway has ended with code 3; its log ends: 19997 | 19998 | 19999 | 20000 | \ufffd");
    }

    @Test
    void childrenEndWithTheGateway() throws IOException {
        // Something listens at the port, so that the gateway counts as started.
        try (var listener = new ServerSocket(0, 1, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}))) {
            var gateway = new CommandGateway("sleep 60 & echo $! > {dir}/child; wait", null);
            var running = gateway.start(setup(listener.getLocalPort()));
            var file = directory.resolve("child");
            while (!Files.exists(file) || Files.size(file) == 0) {
                Thread.onSpinWait();
            }
            var child = ProcessHandle.of(Long.parseLong(Files.readString(file).strip()));
            assertThat(running.isAlive()).isTrue();
            assertThat(child).isPresent();

            running.close();

            assertThat(running.isAlive()).isFalse();
            child.orElseThrow().onExit().join();
        }
    }
}
