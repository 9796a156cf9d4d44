package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What only a process of its own shows: Ctrl-C while a trace is being read. */
final class ReplayProcessTest {
    private static final Path KILL = Path.of("/bin/kill");
    private static final Path MKFIFO = Path.of("/usr/bin/mkfifo");
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

    private Process start(String... args) throws IOException {
        var command = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Understudy.class.getName());
        command.command().addAll(List.of(args));
        return command.redirectOutput(directory.resolve("out").toFile())
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
