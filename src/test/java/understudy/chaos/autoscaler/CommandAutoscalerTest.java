package understudy.chaos.autoscaler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import understudy.Waiting;

final class CommandAutoscalerTest {
    @TempDir
    private Path directory;

    @Test
    void placeholdersAreFilledInInCommandAndFile() throws IOException {
        var template = Files.writeString(directory.resolve("a.template"), "{targets} {metrics} {window-ms} {requests}");
        var setup = new AutoscalerUnderTest.Setup(
                URI.create("http://a/scale"),
                URI.create("http://a/targets"),
                URI.create("http://a/metrics"),
                1,
                8,
                4,
                250,
                1500,
                directory);
        var command =
                new CommandAutoscaler("echo {scale} {min} {max} {period} {window}; cat {config}; exit 3", template);

        try (var running = command.start(setup)) {
            Waiting.until(() -> !running.isAlive());

            assertThat(running.end())
                    .isEqualTo("has ended with code 3; its log ends: http://a/scale 1 8 0.25 1.5"
                            + " | http://a/targets http://a/metrics 1500 4");
        }
    }
}
