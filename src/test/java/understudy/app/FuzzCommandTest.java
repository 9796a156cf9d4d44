package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import understudy.fuzz.Check;

final class FuzzCommandTest {
    private static final Check BROKEN = scenario -> {
        if (!scenario.text("cluster.replicas").equals("1")) {
            throw new IllegalStateException("two are too many");
        }
    };

    @TempDir
    private Path directory;

    @Test
    void nothingFound_isOneLine() {
        var fuzz = call("fuzz", "--seed", "7", "--runs", "20", "--only", "memory");

        assertThat(fuzz.out).matches("seed 7: 20 runs in \\d+ s, \\d+ of them refused by the reader; nothing found\n");
        assertThat(fuzz.err).isEmpty();
        assertThat(fuzz.exitCode).isZero();
        assertThat(call("fuzz", "--run", "3", "--only", "memory").out).isEqualTo("seed 1, run 3: nothing found\n");
    }

    @Test
    void duration_endsTheSearch() {
        assertThat(call("fuzz", "--duration", "0s").out)
                .isEqualTo("seed 1: 0 runs in 0 s, 0 of them refused by the reader; nothing found\n");
    }

    @Test
    void finding_isPrintedWithItsSmallestScenarioAndWrittenForOthers() throws IOException {
        var file = directory.resolve("smallest.conf");
        var out = new StringWriter();

        int exitCode = broken(out).execute("--seed", "1", "--out", file.toString());

        assertThat(exitCode).isEqualTo(1);
        assertThat(out.toString())
                .startsWith("seed 1, run ")
                .contains(": java.lang.IllegalStateException: two are too many\n")
                .contains("\n\ncluster.replicas = ")
                .contains("\nAgain: understudy fuzz --seed 1 --run ")
                .endsWith("\nSmallest: understudy fuzz " + file + "\n");
        assertThat(Files.readString(file)).matches("cluster.replicas = [234]\nworkload.requests = 1\n");
        assertThat(call("run", file.toString()).exitCode).isZero();
        assertThat(call("fuzz", file.toString()).out).isEqualTo(file + ": nothing found\n");
        assertThat(broken(new StringWriter()).execute(file.toString())).isEqualTo(1);
    }

    @Test
    void numberOfARun_findsTheSameAgain() {
        var searched = new StringWriter();
        broken(searched).execute();
        String number = searched.toString().replaceAll("(?s)seed 1, run (\\d+):.*", "$1");
        var again = new StringWriter();

        assertThat(broken(again).execute("--run", number)).isEqualTo(1);
        assertThat(again).hasToString(searched.toString());
    }

    @ParameterizedTest
    @CsvSource({
        "--duration 10, --duration is \"10\"",
        "--runs 0, --runs is 0",
        "--run -1, --run is -1",
        "--run 1 --runs 5, SCENARIO does not go with --run",
        "nowhere.conf, nowhere.conf: no such file",
        "--only nothing, Invalid value for option '--only'",
        "--seed x, Invalid value for option '--seed'"
    })
    void badInput_isOneLineAndExitTwo(String options, String problem) {
        var fuzz = call(("fuzz " + options).split(" "));

        assertThat(fuzz.err).contains(problem).hasLineCount(1);
        assertThat(fuzz.out).isEmpty();
        assertThat(fuzz.exitCode).isEqualTo(2);
    }

    @Test
    void help_hasExamples() {
        assertThat(call("fuzz", "--help").out)
                .contains("understudy fuzz --duration 10m")
                .contains("CLUSTER, MEMORY");
        assertThat(call("--help").out).contains("fuzz");
    }

    private static CommandLine broken(StringWriter out) {
        return new CommandLine(new FuzzCommand(part -> List.of(BROKEN))).setOut(new PrintWriter(out));
    }
}
