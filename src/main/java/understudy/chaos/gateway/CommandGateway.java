package understudy.chaos.gateway;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import understudy.chaos.process.ShellProcess;
import understudy.runtime.Stopwatch;

/**
 * A gateway that a command of the shell starts. In the command, and in a file that is filled in for it, {@code {port}}
 * stands for the port to listen at, {@code {backends}} for the addresses of the replicas as {@code HOST:PORT}, separated
 * by commas, {@code {backend0}} and so on for each, {@code {scheme}} for what they speak, {@code http} or {@code https},
 * {@code {ca}} for the path of their authority's certificate in PEM (empty without TLS), {@code {events}} for the
 * addresses of their KV events, {@code {dir}} for a scratch directory, and {@code {config}} for the path of the filled-in
 * file.
 *
 * @param command command line for {@code sh -c}
 * @param template file to be filled in, or null for none
 */
public record CommandGateway(String command, @Nullable Path template) implements GatewayUnderTest {
    private static final double START_SECONDS = 20;
    private static final String LOG = "gateway.log";

    @Override
    public String name() {
        return command;
    }

    @Override
    public Running start(Setup setup) throws IOException {
        String line = filledIn(command, setup);
        if (template != null) {
            Files.writeString(config(setup), filledIn(Files.readString(template), setup));
        }
        var log = setup.directory().resolve(LOG);
        var shell = ShellProcess.start(line, setup.directory(), log);
        try {
            awaitPort(shell, setup.port());
        } catch (IOException e) {
            shell.close();
            throw e;
        }
        return new Started(shell, URI.create("http://127.0.0.1:" + setup.port()));
    }

    private Path config(Setup setup) {
        return setup.directory().resolve("config-" + (template == null ? "" : template.getFileName()));
    }

    private String filledIn(String text, Setup setup) {
        String filled = text.replace("{port}", String.valueOf(setup.port()))
                .replace("{dir}", setup.directory().toString())
                .replace("{ca}", setup.ca() == null ? "" : setup.ca().toString())
                .replace("{scheme}", setup.ca() == null ? "http" : "https")
                .replace("{config}", config(setup).toString())
                .replace(
                        "{backends}",
                        setup.backends().stream().map(CommandGateway::address).collect(Collectors.joining(",")));
        filled = filled.replace(
                "{events}",
                setup.backends().stream()
                        .map(each -> String.valueOf(each.kvEvents()))
                        .collect(Collectors.joining(",")));
        for (int i = 0; i < setup.backends().size(); i++) {
            filled = filled.replace(
                    "{backend" + i + "}", address(setup.backends().get(i)));
        }
        return filled;
    }

    private static String address(Backend backend) {
        return backend.uri().getAuthority();
    }

    private static void awaitPort(ShellProcess shell, int port) throws IOException {
        var waiting = Stopwatch.start();
        while (!accepts(port)) {
            if (shell.hasEnded()) {
                throw new IOException("the gateway " + shell.end());
            }
            if (waiting.seconds() > START_SECONDS) {
                throw new IOException("the gateway does not listen at port " + port + " within " + START_SECONDS + " s"
                        + shell.lastLines());
            }
        }
    }

    private static boolean accepts(int port) {
        try (var socket = new Socket()) {
            socket.connect(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), port), (int) TimeUnit.SECONDS.toMillis(1));
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private record Started(ShellProcess shell, URI uri) implements Running {
        @Override
        public boolean isAlive() {
            return shell.isAlive();
        }

        @Override
        public void close() {
            shell.close();
        }
    }
}
