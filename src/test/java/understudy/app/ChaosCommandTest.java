package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.chaos.answer.KitResult;
import understudy.chaos.evidence.Lateness;
import understudy.chaos.evidence.ScenarioEvidence;
import understudy.chaos.law.Breach;
import understudy.chaos.law.ScenarioResult;
import understudy.chaos.law.Verdict;

final class ChaosCommandTest {
    private static final String SMALL = "scenarios = [{ name = small, description = \"A replica cuts streams.\","
            + " load = [{ for = 1200ms, streamed = 1 }], bounds.min-success = 0.3,"
            + " faults = [{ at = 200ms, do = cut, replica = 0, for = 600ms }] }]";

    @TempDir
    private Path directory;

    @Test
    void listNamesEachScenario() {
        var list = call("chaos", "--list");

        assertThat(list.exitCode).isZero();
        assertThat(list.out.lines())
                .anyMatch(line -> line.matches("half-dead +The engine .* \\(vllm-project/vllm#39863\\)"))
                .anyMatch(line -> line.startsWith("certificate-rotated ") && line.endsWith(" [--tls]"))
                .hasSizeGreaterThanOrEqualTo(30);
    }

    /** Two of the kit's scenarios begin with "admission-". */
    @Test
    void starStandsForAnyCharacters() {
        var list = call("chaos", "--list", "--only", "admission-*,h*f-dead");

        assertThat(list.out.lines().map(line -> line.substring(0, line.indexOf(' '))))
                .containsExactlyInAnyOrder("half-dead", "admission-503", "admission-429-everywhere");
    }

    @Test
    void referenceKeepsAllLaws() throws IOException {
        var file = Files.writeString(directory.resolve("small.conf"), SMALL);
        var junit = directory.resolve("chaos.xml");
        var json = directory.resolve("chaos.json");
        var html = directory.resolve("chaos.html");

        var chaos = call(
                "chaos",
                "reference",
                "--scenario",
                file.toString(),
                "--junit",
                junit.toString(),
                "--json",
                json.toString(),
                "--html",
                html.toString());

        assertThat(chaos.exitCode).as(chaos.out + chaos.err).isZero();
        assertThat(chaos.out).contains("small");
        assertThat(junit).content().contains("small");
        assertThat(json).content().contains("small");
        assertThat(html).content().contains("small");
    }

    @Test
    void gatewayThatRepeatsTokensBreaksALaw() throws IOException {
        var file = Files.writeString(directory.resolve("small.conf"), SMALL);

        var chaos = call("chaos", "reference:retry-after-first-byte", "--scenario", file.toString());

        assertThat(chaos.exitCode).isEqualTo(1);
        assertThat(chaos.out).contains("tokens-in-order");
    }

    private record Nothing(String scenario, long durationNanos, Lateness lateness) implements ScenarioEvidence {}

    /** A law of each letter's scenario is kept (k), broken (b) or in doubt (d): what is broken outweighs a doubt. */
    @ParameterizedTest
    @CsvSource({"kk, 0", "kb, 1", "db, 1", "kd, 3", "dd, 3"})
    void exitCodeTellsADoubtFromABreach(String outcomes, int exitCode) {
        var scenarios = outcomes.chars().mapToObj(outcome -> {
            var breaches = outcome == 'k' ? List.<Breach>of() : List.of(new Breach("law", "", "", 0, "it was late"));
            var verdict = new Verdict("law", "It is in time.", breaches, outcome == 'd' ? "the machine was late" : "");
            return new ScenarioResult("", new Nothing("scripted", 1, Lateness.NONE), List.of(verdict));
        });

        var result = new KitResult(KitResult.Kind.GATEWAY, "envoy", 1, scenarios.toList(), List.of());

        assertThat(ChaosCommand.exitCode(result)).isEqualTo(exitCode);
    }

    @Test
    void gatewayThatDoesNotStartIsNamedWithItsLog() {
        var chaos = call("chaos", "--command", "echo no such router; exit 7", "--only", "all-well");

        assertThat(chaos.exitCode).isEqualTo(2);
        assertThat(chaos.err)
                .startsWith(
                        "the gateway has ended with code 7; its log ends: no such router; the gateway's log is in ");
    }

    @Test
    void autoscalersHaveScenariosOfTheirOwn() {
        var list = call("chaos", "--autoscaler", "reference", "--list");

        assertThat(list.exitCode).isZero();
        assertThat(list.out.lines())
                .anyMatch(line -> line.matches("series-vanish +All series .* \\(kedacore/keda#3065\\)"))
                .hasSizeGreaterThanOrEqualTo(8);
    }

    @Test
    void autoscalerThatIgnoresTheMaximumBreaksALaw() throws IOException {
        var file = Files.writeString(
                directory.resolve("small.conf"),
                "scenarios = [{ name = small, load = [{ users = 12 }], for = 1500ms, bounds.max-replicas = 2 }]");
        var json = directory.resolve("chaos.json");
        var html = directory.resolve("chaos.html");
        String scenario = file.toString();

        var right = call("chaos", "--autoscaler", "reference", "--scenario", scenario, "--json", json.toString());
        var wrong = call(
                "chaos",
                "--autoscaler",
                "reference:ignores-maximum",
                "--scenario",
                scenario,
                "--html",
                html.toString());

        assertThat(right.exitCode).as(right.out + right.err).isZero();
        assertThat(right.out).startsWith("Autoscaler reference, seed 1");
        assertThat(json).content().contains("\"replicas\" : 2");
        assertThat(wrong.exitCode).isEqualTo(1);
        assertThat(wrong.out).contains("asked for 3 replicas; allowed are 1 to 2");
        assertThat(html)
                .content()
                .contains("replicas-within-bounds", "class=\"wanted\"", "PUT of 3 replicas, status 200");
    }

    @Test
    void autoscalerThatDoesNotStartIsNamedWithItsLog() {
        var chaos = call("chaos", "--autoscaler", "echo no metrics at {targets}; exit 7", "--only", "steady");

        assertThat(chaos.exitCode).isEqualTo(2);
        assertThat(chaos.err)
                .startsWith("the autoscaler has ended with code 7; its log ends: no metrics at http://127.0.0.1:")
                .contains("/targets; the autoscaler's log is in ");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--only half-dead | there must be TARGET or --command, and not both",
                "reference --command x | there must be TARGET or --command, and not both",
                "reference --only half-deed | --only is \"half-deed\", which is no scenario; did you mean half-dead?",
                "http://127.0.0.1:80 | a gateway that runs already needs --ports",
                "ftp://x --ports 1-3 | TARGET is \"ftp://x\", must be an address such as http://127.0.0.1:8080",
                "http://127.0.0.1:80 --ports 3-1 | --ports is \"3-1\", must be a range from 1 to 65535",
                "http://127.0.0.1:80 --ports a | --ports is \"a\", must be a range such as 9001-9003",
                "reference:no-helth-check | TARGET is \"reference:no-helth-check\"; did you mean reference:no-health-check?",
                "reference --only certificate-rotated | --only is \"certificate-rotated\", which runs only with --tls",
                "http://127.0.0.1:80 --ports 1-3 --tls | a gateway that runs already cannot know the authority that --tls makes",
                "reference --autoscaler x | --autoscaler takes the place of TARGET, --command, --ports and --tls",
                "--autoscaler reference:never-up | --autoscaler is \"reference:never-up\"; did you mean reference:never-down?",
                "--autoscaler reference --only half-dead | --only is \"half-dead\", which is no scenario; known are steady",
                "reference --scenario no.conf | no.conf: no such file",
                "--command x --config no.conf | --config is no.conf, which is not a file",
                "reference --html /no/such/x.html | --html /no/such/x.html: no such directory"
            })
    void mistakeIsOneLine(String words, String message) {
        var chaos = call(("chaos " + words).split(" "));

        assertThat(chaos.exitCode).isEqualTo(2);
        assertThat(chaos.err).startsWith(message).hasLineCount(1);
        assertThat(chaos.out).isEmpty();
    }
}
