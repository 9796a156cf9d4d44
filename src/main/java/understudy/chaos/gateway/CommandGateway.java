package understudy.chaos.gateway;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
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
    private static final long END_SECONDS = 3;
    private static final long POLL_MILLIS = 20;
    private static final int LAST_LINES = 5;
    private static final int MAX_TAIL_BYTES = 1 << 14;
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
        var process = new ProcessBuilder("sh", "-c", line)
                .directory(setup.directory().toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
        var started = new Started(process, URI.create("http://127.0.0.1:" + setup.port()));
        try {
            awaitPort(process, setup.port(), log);
        } catch (IOException e) {
            started.close();
            throw e;
        }
        return started;
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

    private static void awaitPort(Process process, int port, Path log) throws IOException {
        var waiting = Stopwatch.start();
        while (!accepts(port)) {
            if (hasEnded(process)) {
                throw new IOException("the gateway has ended with code " + process.exitValue() + lastLines(log));
            }
            if (waiting.seconds() > START_SECONDS) {
                throw new IOException("the gateway does not listen at port " + port + " within " + START_SECONDS + " s"
                        + lastLines(log));
            }
        }
    }

    private static boolean hasEnded(Process process) throws IOException {
        try {
            return process.waitFor(POLL_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while the gateway starts", e);
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

    /** Returns the end of a log, which may be of any length, and need not be text. */
    private static String lastLines(Path log) throws IOException {
        try (var file = new RandomAccessFile(log.toFile(), "r")) {
            long begin = Math.max(0, file.length() - MAX_TAIL_BYTES);
            var tail = new byte[(int) (file.length() - begin)];
            file.seek(begin);
            file.readFully(tail);
            var lines = new String(tail, StandardCharsets.UTF_8).lines().toList();
            var last = lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size());
            return last.isEmpty() ? "" : "; its log ends: " + String.join(" | ", last);
        }
    }

    private record Started(Process process, URI uri) implements Running {
        @Override
        public boolean isAlive() {
            return process.isAlive();
        }

        /** Ends the process and those that it has started, at first by asking. */
        @Override
        public void close() {
            var all = process.descendants().collect(Collectors.toList());
            all.add(process.toHandle());
            all.forEach(ProcessHandle::destroy);
            var waiting = Stopwatch.start();
            while (isAnyAlive(all) && waiting.seconds() < END_SECONDS) {
                pause();
            }
            all.forEach(ProcessHandle::destroyForcibly);
        }

        private static boolean isAnyAlive(List<ProcessHandle> processes) {
            return processes.stream().anyMatch(ProcessHandle::isAlive);
        }

        private static void pause() {
            new CompletableFuture<Void>()
                    .completeOnTimeout(null, POLL_MILLIS, TimeUnit.MILLISECONDS)
                    .join();
        }
    }
}
