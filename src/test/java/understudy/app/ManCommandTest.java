package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static understudy.app.CommandLineFixture.call;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Manual pages and completion, which both come from the commands' own descriptions. */
final class ManCommandTest {
    @TempDir
    private Path directory;

    @Test
    void page_hasWhatTheHelpHas() {
        String page = call("man", "run").out;

        assertThat(page.lines())
                .contains(".SH \"OPTIONS\"", "\\fB\\-\\-seed=N\\fR", "\\fBSCENARIO\\fR", "\\fB130\\fR", "understudy(1)")
                .contains("  understudy run conf/demo.conf \\-\\-dry\\-run")
                .noneMatch(line -> line.contains("%n") || line.contains("DEFAULT"));
        assertThat(page).startsWith(".TH \"UNDERSTUDY-RUN\" \"1\"");
        assertThat(call("man", "bench").out).contains("\\-\\-[no\\-]scale\\-gaps");
        assertThat(call("man").out).contains("\\fBsweep\\fR", "understudy\\-run(1), understudy\\-serve(1)");
    }

    @Test
    void allPages_areWritten() throws IOException {
        var pages = directory.resolve("man/man1");

        assertThat(call("man", "--dir", pages.toString()).exitCode).isZero();

        for (String command : Understudy.wholeCommandLine().getSubcommands().keySet()) {
            assertThat(pages.resolve("understudy-" + command + ".1")).isNotEmptyFile();
        }
        assertThat(pages.resolve("understudy.1")).isNotEmptyFile();
    }

    @Test
    void unknownCommand_isRefusedNamingTheNearest() {
        var run = call("man", "rum");

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err).isEqualTo("man rum: no such command; did you mean run?\n");
    }

    @Test
    void completion_knowsCommandsAndOptions_andIsForBashAndZsh() {
        String script = call("completion", "bash").out;

        assertThat(script)
                .contains("--explain-routing", "\"run serve vllm sglang sweep")
                .contains("ZSH_VERSION");
        assertThat(call("completion", "zsh").out.lines())
                .hasSameSizeAs(script.lines().toList());
        assertThat(call("completion", "fish").exitCode).isEqualTo(2);
        assertThat(call("completion").exitCode).isEqualTo(2);
    }

    @Test
    void bash_completesWithTheScript() throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(Path.of("/bin/bash")), "there is no bash");
        var script = Files.writeString(directory.resolve("understudy.bash"), call("completion", "bash").out);
        var bash = new ProcessBuilder(
                        "/bin/bash",
                        "-c",
                        "source " + script + "; COMP_WORDS=(understudy run --expl); COMP_CWORD=2;"
                                + " _complete_understudy 2>/dev/null; echo \"${COMPREPLY[@]}\"")
                .start();

        String completed = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(bash.waitFor()).isZero();
        assertThat(completed.strip().split(" ")).containsExactlyInAnyOrder("--explain-step", "--explain-routing");
    }
}
