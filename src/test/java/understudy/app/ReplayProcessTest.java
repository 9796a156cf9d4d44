package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import understudy.workload.files.ArchiveBytes;

/** What only a process of its own shows: Ctrl-C while a trace is being read, and what its stdin and stdout are. */
final class ReplayProcessTest {
    private static final Path MKFIFO = Path.of("/usr/bin/mkfifo");
    private static final Path FULL = Path.of("/dev/full");
    private static final Path STDIN = Path.of("/dev/stdin");

    @TempDir
    private Path directory;

    @Test
    void interrupt_writesNothing() throws IOException, InterruptedException {
        ProcessFixture.requireSignals();
        assumeTrue(Files.isExecutable(MKFIFO), "there is no " + MKFIFO);
        // A pipe into which nobody ever writes is a trace that does not end.
        var pipe = directory.resolve("pipe");
        new ProcessBuilder(MKFIFO.toString(), pipe.toString()).start().waitFor();
        var json = directory.resolve("out.json");
        try (var replay = start("replay", pipe.toString(), "--log-level=INFO", "--json", json.toString())) {
            // A signal before the replay has started would only end the JVM.
            replay.awaitErr("the replay has started", 1);
            replay.interrupt();

            assertThat(replay.exitCode()).isEqualTo(ProcessFixture.DIES_OF_SIGINT);
            assertThat(replay.err()).endsWith("broken off, nothing written\n");
            assertThat(replay.out()).isEmpty();
            assertThat(json).doesNotExist();
        }
    }

    @Test
    void stdoutThatTakesNothing_isReported() throws IOException, InterruptedException {
        assumeTrue(Files.exists(FULL), "there is no " + FULL);
        var command = ProcessFixture.command("replay", trace().toString(), "--policy=lru", "--capacity=1");

        try (var replay = ProcessFixture.start(directory, "process", command.redirectOutput(FULL.toFile()))) {
            assertThat(replay.exitCode()).isEqualTo(2);
            assertThat(replay.err()).isEqualTo("stdout cannot be written\n");
        }
    }

    @Test
    void traceFromAPipe_isReadToItsEnd() throws IOException, InterruptedException {
        assumeTrue(Files.exists(STDIN), "there is no " + STDIN);
        // Two gzip'd parts, one behind the other, as they come from a log that is compressed in pieces.
        byte[] part = ArchiveBytes.gzip(Files.readAllBytes(trace()));

        try (var replay = start("replay", STDIN.toString(), "--policy=lru", "--capacity=1")) {
            try (var in = replay.process().getOutputStream()) {
                in.write(part);
                in.write(part);
            }

            assertThat(replay.exitCode()).isZero();
            assertThat(replay.err()).isEmpty();
            assertThat(replay.out())
                    .startsWith(STDIN + ": 2 requests, 1024 prompt tokens, 2 accesses to 1 different blocks");
        }
    }

    private Path trace() throws IOException {
        return Files.writeString(
                directory.resolve("trace.jsonl"),
                "{\"timestamp\": 0, \"input_length\": 512, \"output_length\": 1, \"hash_ids\": [1]}\n");
    }

    private ProcessFixture start(String... args) {
        return ProcessFixture.start(directory, args);
    }
}
