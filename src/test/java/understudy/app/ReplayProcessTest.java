package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What only a process of its own shows: Ctrl-C while a trace is being read, and what its stdin and stdout are. */
final class ReplayProcessTest {
    private static final Path KILL = Path.of("/bin/kill");
    private static final Path MKFIFO = Path.of("/usr/bin/mkfifo");
    private static final Path FULL = Path.of("/dev/full");
    private static final Path STDIN = Path.of("/dev/stdin");
    private static final int DIES_OF_SIGINT = 130;

    @TempDir
    private Path directory;

    @Test
    void interrupt_writesNothing() throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(KILL) && Files.isExecutable(MKFIFO), "there is no " + KILL + " or " + MKFIFO);
        // A pipe into which nobody ever writes is a trace that does not end.
        var pipe = directory.resolve("pipe");
        new ProcessBuilder(MKFIFO.toString(), pipe.toString()).start().waitFor();
        var json = directory.resolve("out.json");
        var process = start("replay", pipe.toString(), "--log-level=INFO", "--json", json.toString());
        try {
            awaitStart(process);
            new ProcessBuilder(KILL.toString(), "-INT", String.valueOf(process.pid()))
                    .start()
                    .waitFor();

            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isEqualTo(DIES_OF_SIGINT);
            assertThat(text("err")).endsWith("broken off, nothing written\n");
            assertThat(text("out")).isEmpty();
            assertThat(json).doesNotExist();
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void stdoutThatTakesNothing_isReported() throws IOException, InterruptedException {
        assumeTrue(Files.exists(FULL), "there is no " + FULL);

        int exitCode = finish(FULL.toFile(), "replay", trace().toString(), "--policy=lru", "--capacity=1");

        assertThat(exitCode).isEqualTo(2);
        assertThat(text("err")).isEqualTo("stdout cannot be written\n");
    }

    @Test
    void traceFromAPipe_isReadToItsEnd() throws IOException, InterruptedException {
        assumeTrue(Files.exists(STDIN), "there is no " + STDIN);
        // Two gzip'd parts, one behind the other, as they come from a log that is compressed in pieces.
        byte[] part = gzipped(Files.readAllBytes(trace()));

        var process = start("replay", STDIN.toString(), "--policy=lru", "--capacity=1");
        try (var in = process.getOutputStream()) {
            in.write(part);
            in.write(part);
        }

        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(text("err")).isEmpty();
        assertThat(text("out"))
                .startsWith(STDIN + ": 2 requests, 1024 prompt tokens, 2 accesses to 1 different blocks");
    }

    private Path trace() throws IOException {
        return Files.writeString(
                directory.resolve("trace.jsonl"),
                "{\"timestamp\": 0, \"input_length\": 512, \"output_length\": 1, \"hash_ids\": [1]}\n");
    }

    private static byte[] gzipped(byte[] content) throws IOException {
        var bytes = new ByteArrayOutputStream();
        try (var out = new GZIPOutputStream(bytes)) {
            out.write(content);
        }
        return bytes.toByteArray();
    }

    private int finish(File out, String... args) throws IOException, InterruptedException {
        var process = start(out, args);
        try {
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            return process.exitValue();
        } finally {
            process.destroyForcibly();
        }
    }

    private Process start(String... args) throws IOException {
        return start(directory.resolve("out").toFile(), args);
    }

    private Process start(File out, String... args) throws IOException {
        var command = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Understudy.class.getName());
        command.command().addAll(List.of(args));
        return command.redirectOutput(out)
                .redirectError(directory.resolve("err").toFile())
                .start();
    }

    /** A signal before the replay has started would only end the JVM. */
    private void awaitStart(Process process) throws IOException, InterruptedException {
        while (process.isAlive() && !text("err").contains("the replay has started")) {
            process.waitFor(20, TimeUnit.MILLISECONDS);
        }
    }

    private String text(String file) throws IOException {
        return Files.readString(directory.resolve(file));
    }
}
