package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

final class UnderstudyTest {
    private final StringWriter err = new StringWriter();

    @Test
    void memoryThatRunsOutInAnyThread_isOneLine() throws Exception {
        var failure = new ExecutionException(new IllegalStateException(new OutOfMemoryError("Java heap space")));

        assertThat(Understudy.onFailure(failure, new PrintWriter(err))).isEqualTo(2);
        assertThat(err.toString()).startsWith("out of memory: the heap has ").contains("-Xmx");
        assertThat(err.toString().lines()).hasSize(1);
    }

    @Test
    void defect_isShownInFull() {
        var defect = new IllegalStateException("a defect");

        assertThatThrownBy(() -> Understudy.onFailure(defect, new PrintWriter(err)))
                .isSameAs(defect);
    }

    @Test
    void command_isMadeAlone_andNothingForTheVersion() {
        assertThat(commands("run", "--help")).containsExactly("run");
        assertThat(commands("--version")).isEmpty();
    }

    /** The image's entrypoint takes other words for those of vLLM. */
    @Test
    void entrypointOfTheImage_knowsAllCommands() throws IOException {
        String script = Files.readString(Path.of("src/main/image/understudy"));

        assertThat(commands())
                .allSatisfy(command -> assertThat(script).containsPattern("[ |]" + command + "( \\||\\))"));
    }

    @Test
    void helpAndWhatIsUnknown_nameAllCommands() {
        var all = List.of(
                "run",
                "serve",
                "vllm",
                "sglang",
                "sweep",
                "plan",
                "worker",
                "bench",
                "bench-serving",
                "replay",
                "describe",
                "conform",
                "adopt",
                "calibrate",
                "fuzz",
                "chaos",
                "fidelity",
                "compare",
                "emit",
                "models",
                "gpus",
                "versions",
                "completion",
                "man",
                "help");

        assertThat(commands()).containsExactlyElementsOf(all);
        assertThat(commands("--help")).containsExactlyElementsOf(all);
        assertThat(commands("help", "run")).containsExactlyElementsOf(all);
        assertThat(CommandLineFixture.call("serv").err).contains("did you mean").contains("serve");
    }

    /** A command's name stands in the table as in its own annotation, which help and errors print. */
    @Test
    void table_hasTheNamesThatCommandsGiveThemselves() {
        Understudy.commandLine("help")
                .getSubcommands()
                .forEach((name, command) -> assertThat(command.getCommandName()).isEqualTo(name));
    }

    private static Set<String> commands(String... args) {
        return Understudy.commandLine(args).getSubcommands().keySet();
    }
}
