package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where results must not go, under whatever name. */
final class ReplayOutputTest {
    private static final String TRACE =
            "{\"timestamp\": 0, \"input_length\": 512, \"output_length\": 1, \"hash_ids\": [1]}\n";

    @TempDir
    private Path directory;

    private Path trace;
    private Path detour;

    @BeforeEach
    void writeTrace() throws IOException {
        trace = Files.writeString(directory.resolve("trace.jsonl"), TRACE);
        detour = Files.createDirectory(directory.resolve("sub")).resolve("..");
    }

    @Test
    void traceByAnotherName_isNotOverwritten() throws IOException {
        var link = Files.createSymbolicLink(directory.resolve("link"), trace);

        assertRefused("is the trace itself", "--json=" + detour.resolve("trace.jsonl"));
        assertRefused("is the trace itself", "--csv=" + link);
        assertThat(trace).hasContent(TRACE);
    }

    @Test
    void traceThatIsALink_isNotOverwritten() throws IOException {
        var link = Files.createSymbolicLink(directory.resolve("link"), trace);

        var replay = call("replay", link.toString(), "--html=" + trace);

        assertThat(replay.exitCode).isEqualTo(2);
        assertThat(replay.err).contains("is the trace itself").hasLineCount(1);
        assertThat(trace).hasContent(TRACE);
    }

    @Test
    void onePlaceByTwoNames_isRefused() throws IOException {
        var file = directory.resolve("out");
        assertRefused("two of them are to go to ", "--json=" + file, "--csv=" + detour.resolve("out"));
        assertThat(file).doesNotExist();

        Files.writeString(file, "old");
        var link = Files.createSymbolicLink(directory.resolve("link"), file);
        assertRefused("two of them are to go to ", "--json=" + file, "--csv=" + link);
        assertThat(file).hasContent("old");
    }

    private void assertRefused(String problem, String... options) {
        var args = new String[options.length + 2];
        args[0] = "replay";
        args[1] = trace.toString();
        System.arraycopy(options, 0, args, 2, options.length);

        var replay = call(args);

        assertThat(replay.exitCode).isEqualTo(2);
        assertThat(replay.err).contains(problem).hasLineCount(1);
        assertThat(replay.out).isEmpty();
    }
}
