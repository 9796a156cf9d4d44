package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;
import static understudy.app.CommandLineFixture.writeSmall;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class RunCommandTest {
    @TempDir
    private Path directory;

    private String small;

    @BeforeEach
    void writeScenario() throws IOException {
        small = writeSmall(directory);
    }

    @Test
    void run_printsTheReport() {
        var run = call("run", small);

        assertThat(run.exitCode).isZero();
        assertThat(run.err).isEmpty();
        assertThat(run.out)
                .startsWith("============ Serving Benchmark Result ============\n")
                .contains("Successful requests:                     50")
                .contains("| Replica |")
                .contains("x real time");
    }

    @Test
    void jsonOnStdout_isNothingButJson() throws IOException {
        var json = call("run", small, "--json", "-").json();

        assertThat(json.get("completed").asInt()).isEqualTo(50);
        assertThat(json.get("per_replica")).hasSize(2);
    }

    @Test
    void faults_areInTheReportAndRepeat() throws IOException {
        String[] crash = {
            "run",
            small,
            "--json",
            "-",
            "--set",
            "workload.sessions.turns.kind=fixed",
            "--set",
            "faults.plan=[{at = 1s, do = crash, replica = 0, for = 500ms}, {at = 0s, do = error-sequence, count = 2}]"
        };
        var run = call(crash);

        assertThat(run.json().get("failed").asInt())
                .as("two errors, and what the crash hits")
                .isGreaterThanOrEqualTo(2);
        assertThat(run.json().get("failed").asInt()
                        + run.json().get("completed").asInt())
                .isEqualTo(50);
        assertThat(call(crash).jsonWithoutHost()).isEqualTo(run.jsonWithoutHost());
    }

    @Test
    void sameSeed_givesTheSameBytes() throws IOException {
        String first = call("run", small, "--json", "-").jsonWithoutHost();

        assertThat(call("run", small, "--json", "-").jsonWithoutHost()).isEqualTo(first);
        assertThat(call("run", small, "--json", "-", "--seed", "1").jsonWithoutHost())
                .as("1 is the default")
                .isEqualTo(first);
        assertThat(call("run", small, "--json", "-", "--seed", "2").jsonWithoutHost())
                .isNotEqualTo(first);
    }

    @Test
    void dedup_decidesWhatRequestsOfOneStepShare() throws IOException {
        String equal = write("equal.conf", """
                workload {
                  kind = burst
                  requests = 8
                  burst.distinct-prompts = 1
                  lengths { prompt { kind = fixed, mean = 160 }, output { kind = fixed, mean = 1 } }
                }
                latency.api-delay-per-prompt-token = 0us
                """);

        // All are admitted together, since nobody has to wait for another one's tokenizing. Seven find (160 - 1) / 16 =
        // 9 blocks of the first one, or nothing.
        assertThat(hits(equal, "auto")).isEqualTo(7 * 9 * 16);
        assertThat(hits(equal, "blocks")).isEqualTo(7 * 9 * 16);
        assertThat(hits(equal, "off")).isZero();
    }

    private static int hits(String scenario, String dedup) throws IOException {
        var json = call("run", scenario, "--set", "engine.dedup=" + dedup, "--json", "-")
                .json();
        return json.get("prefix_cache_hits").asInt();
    }

    @Test
    void files_areWrittenWhole() throws IOException {
        var results = directory.resolve("a/b");
        var json = directory.resolve("report.json");

        var run = call("run", small, "--out", results.toString(), "--json", json.toString());

        assertThat(run.exitCode).isZero();
        assertThat(run.out).contains("Serving Benchmark Result");
        assertThat(results.resolve("report.json")).hasSameTextualContentAs(json);
        assertThat(Files.readAllLines(results.resolve("requests.csv"))).hasSize(51);
        try (var files = Files.list(results)) {
            assertThat(files.map(f -> f.getFileName().toString()))
                    .containsExactlyInAnyOrder("report.json", "requests.csv", "prefix_cache_events.csv");
        }
    }

    @Test
    void timeline_isTheSameInJsonAndFile() throws IOException {
        var timeline = "report.timeline=1s";

        var run = call("run", small, "--out", directory.toString(), "--set", timeline);

        var rows = new ObjectMapper()
                .readTree(directory.resolve("report.json").toFile())
                .get("timeline");
        var lines = Files.readAllLines(directory.resolve("timeline.csv"));
        assertThat(lines).hasSize(rows.size() + 1);
        assertThat(lines.get(0)).startsWith("start_s,arrived,completed,failed,output_throughput");
        assertThat(StreamSupport.stream(rows.spliterator(), false)
                        .mapToInt(row -> row.get("completed").asInt())
                        .sum())
                .isEqualTo(50);
        assertThat(run.out).contains("| From (s) |");
        assertThat(call("run", small, "--set", "report.timeline=500ms").err).contains("report.timeline");
        assertThat(call("run", small, "--set", "report.timeline=0s").err).contains("report.timeline");
        assertThat(call("run", small).out).doesNotContain("From (s)");
    }

    @Test
    void details_areSavedOnRequest() throws IOException {
        var json = call("run", small, "--json", "-", "--save-detailed").json();

        assertThat(json.get("itls")).hasSize(50);
        assertThat(json.get("itls").get(0))
                .hasSize(json.get("output_lens").get(0).asInt() - 1);
        assertThat(call("run", small, "--json", "-").json().has("itls")).isFalse();
    }

    @Test
    void dryRun_printsTheResolvedScenarioAndRunsNothing() {
        var run = call("run", small, "--dry-run", "--set", "engine.max-num-seqs=7");

        assertThat(run.exitCode).isZero();
        assertThat(run.out)
                .contains("max-num-seqs=7")
                .contains("max-num-batched-tokens=8192")
                .contains("max-model-len=131072")
                .contains("requests=50")
                .doesNotContain("Successful");
    }

    @Test
    void dryRunOutput_isAScenario() throws IOException {
        String resolved = write("resolved.conf", call("run", small, "--dry-run").out);

        assertThat(call("run", resolved, "--json", "-").jsonWithoutHost())
                .isEqualTo(call("run", small, "--json", "-").jsonWithoutHost());
    }

    @Test
    void substitutions_areResolved() throws IOException {
        String file = write("two.conf", "n = 20\n");
        assertThat(call("run", file).err).contains("unknown key n");

        String good = write("good.conf", "workload { requests = 20, limit = ${workload.requests} }");
        assertThat(call("run", good, "--dry-run").out).contains("limit=20");
        String bad = write("bad.conf", "workload.requets = ${seed}");
        assertThat(call("run", bad).err).contains("unknown key workload.requets; did you mean workload.requests?");
    }

    @Test
    void dryRunOutputOfRoseinfer_isAScenario() throws IOException {
        String after = "conf/roseinfer/after.conf";
        String resolved = write("resolved.conf", call("run", after, "--dry-run").out);

        assertThat(call("run", resolved, "--json", "-").jsonWithoutHost())
                .isEqualTo(call("run", after, "--json", "-").jsonWithoutHost());
    }

    @Test
    void yaml_isReadToo() throws IOException {
        String yaml = write("small.yaml", """
                cluster: { replicas: 2 }
                workload:
                  requests: 50
                  arrivals: { request-rate: 20 }
                  sessions: { turns: { kind: uniform, min: 1, max: 3 } }
                """);

        assertThat(call("run", yaml, "--json", "-").jsonWithoutHost())
                .isEqualTo(call("run", small, "--json", "-").jsonWithoutHost());
    }

    @Test
    void scenarioNotOnDisk_isFoundInTheJar() {
        assertThat(call("run", "conf/bench/w1.conf", "--set", "workload.requests=3").exitCode)
                .isZero();
    }

    @Test
    void requestThatCanNeverFit_isReportedAsRejected() throws IOException {
        String trace = write("trace.csv", "arrival_s,input_toks,output_toks\n0,500,5\n1,900,200\n2,500,5\n");
        var run = call(
                "run",
                small,
                "--set",
                "workload.kind=csv",
                "--set",
                "workload.trace=" + trace,
                "--set",
                "engine.max-model-len=1000",
                "--json",
                "-");

        assertThat(run.exitCode).isZero();
        assertThat(run.err).startsWith("warning: 1 requests were rejected").contains("1000 tokens");
        assertThat(run.json().get("completed").asInt()).isEqualTo(2);
        assertThat(run.json().get("rejected").asInt()).isEqualTo(1);
    }

    @Test
    void jsonToASymbolicLink_replacesWhatItPointsTo() throws IOException {
        var target = Files.writeString(directory.resolve("target.json"), "old");
        var link = Files.createSymbolicLink(directory.resolve("link.json"), target);

        assertThat(call("run", small, "--json", link.toString()).exitCode).isZero();

        assertThat(link).isSymbolicLink();
        assertThat(target).content().startsWith("{");
    }

    @Test
    void version_isTheSameForAllCommands() {
        assertThat(call("run", "--version").out).startsWith("understudy ").isEqualTo(call("--version").out);
    }

    @Test
    void followUpsOfARejectedTurn_areCountedAsAbandoned() throws IOException {
        // Prompts of 60 + answers of 40: turn 2 has 160 tokens and turn 3 has 260, one more answer makes 300, beyond
        // 280.
        // So of 10 sessions of 4 turns, each has 2 answers, 1 rejection and 1 turn that never comes.
        var run = call("run", write("sessions.conf", """
                        workload {
                          requests = 40
                          lengths.prompt { kind = fixed, mean = 60 }
                          lengths.output { kind = fixed, mean = 40 }
                          sessions.turns { kind = fixed, mean = 4 }
                        }
                        engine.max-model-len = 280
                        """), "--json", "-");

        assertThat(run.exitCode).isZero();
        assertThat(run.json().get("completed").asInt()).isEqualTo(20);
        assertThat(run.json().get("rejected").asInt()).isEqualTo(10);
        assertThat(run.json().get("abandoned").asInt()).isEqualTo(10);
    }

    @Test
    void fixedLengthsAreExact_whateverTheDefaultRange() throws IOException {
        var json = call(
                        "run",
                        small,
                        "--json",
                        "-",
                        "--set",
                        "workload.requests=1",
                        "--set",
                        "workload.lengths.prompt.kind=fixed",
                        "--set",
                        "workload.lengths.prompt.mean=110000",
                        "--set",
                        "workload.lengths.output.kind=fixed",
                        "--set",
                        "workload.lengths.output.mean=1e1")
                .json();

        assertThat(json.get("total_input_tokens").asInt()).isEqualTo(110_000);
        assertThat(json.get("total_output_tokens").asInt()).isEqualTo(10);
    }

    @Test
    void missedServiceLevel_endsWithThreeAndNamesTheClass() {
        var run = call("run", small, "--fail-on-slo", "--set", "slo.ttft=1ns");

        assertThat(run.exitCode).isEqualTo(3);
        assertThat(run.err).isEqualTo("slo missed by priority any: attainment 0.0000 (0 of 50), wanted 0.99\n");
        assertThat(run.out).contains("Request goodput (req/s):                 0.00");
        assertThat(call("run", small, "--set", "slo.ttft=1ns").exitCode)
                .as("without the flag")
                .isZero();
    }

    @Test
    void onlyClassesThatMiss_areNamed() {
        String classes = "slo.classes=[{priority = 1, ttft = 1ns}, {priority = 7, ttft = 1ns}]";
        var run = call(
                "run",
                small,
                "--fail-on-slo",
                "--set",
                "workload.priorities=2",
                "--set",
                "slo.ttft=1h",
                "--set",
                classes);

        assertThat(run.exitCode).isEqualTo(3);
        assertThat(run.err.lines()).singleElement().asString().startsWith("slo missed by priority 1: ");
    }

    @Test
    void metServiceLevel_endsWithZero() throws IOException {
        var run = call("run", small, "--fail-on-slo", "--set", "slo.ttft=1h", "--json", "-");

        assertThat(run.exitCode).isZero();
        assertThat(run.err).isEmpty();
        assertThat(run.json().get("request_goodput")).isEqualTo(run.json().get("request_throughput"));
    }

    @Test
    void rejectedRequest_countsInItsClass() throws IOException {
        String trace = write("trace.csv", "arrival_s,input_toks,output_toks,priority\n0,500,5,0\n1,900,200,1\n");
        String settings = """
                workload { kind = csv, trace = "%s" }
                engine.max-model-len = 1000
                slo { e2el = 1h, classes = [{ priority = 1 }] }
                """;
        var run = call("run", write("rejected.conf", settings.formatted(trace)), "--fail-on-slo");

        assertThat(run.exitCode).isEqualTo(3);
        assertThat(run.err).endsWith("\nslo missed by priority 1: attainment 0.0000 (0 of 1), wanted 0.99\n");
    }

    @Test
    void reportThatCannotBeWritten_isWorseThanAMissedServiceLevel() {
        Assumptions.assumeTrue(Files.exists(Path.of("/dev/full")));
        var run = call("run", small, "--fail-on-slo", "--set", "slo.ttft=1ns", "--json", "/dev/full");

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err).contains("the report cannot be written", "slo missed by priority any");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--json=-", "--dry-run"})
    void failOnSloWithoutAny_isRefused(String option) {
        var run = call("run", small, "--fail-on-slo", option);

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.out).isEmpty();
        assertThat(run.err).startsWith("--fail-on-slo: ").contains("slo.ttft");
    }

    @Test
    void help_showsExamples() {
        assertThat(call("run", "--help").out).contains("understudy run conf/demo.conf", "  3     a service level");
        assertThat(call("--help").out).contains("run");
    }

    private String write(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text).toString();
    }
}
