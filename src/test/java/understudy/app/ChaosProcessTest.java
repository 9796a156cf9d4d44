package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import understudy.Waiting;

/** Ctrl-C while a gateway is judged: the kit ends in time, and its processes with it. */
final class ChaosProcessTest {
    @TempDir
    private Path directory;

    /** The gateway of this test never listens, for which the kit would wait 20 s. */
    @Test
    void interruptEndsAGatewayThatStarts() throws IOException, InterruptedException {
        ProcessFixture.requireSignals();
        var pid = directory.resolve("pid");
        String gateway = "echo $$ > " + pid + "; exec sleep 600";
        try (var chaos =
                ProcessFixture.start(directory, "chaos", "--command", gateway, "--only", "all-well", "--seed", "1")) {
            Waiting.until(() -> Files.exists(pid) && !text(pid).isEmpty());
            var process = ProcessHandle.of(Long.parseLong(text(pid)));
            assertThat(process).isPresent();

            chaos.interrupt();

            assertThat(chaos.exitCode()).isEqualTo(ProcessFixture.DIES_OF_SIGINT);
            assertThat(process.orElseThrow().isAlive()).isFalse();
            assertThat(chaos.err()).doesNotContain("giving up", "gateway has ended", "Exception");
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
