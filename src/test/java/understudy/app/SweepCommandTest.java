package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SweepCommandTest {
    /** Every prompt takes a step of 10 ms plus what waits; each answer has four tokens. */
    private static final String SCENARIO = """
            latency.model = linear
            latency.linear { per-step = 10ms, per-token = 0ms, per-decode-seq = 0ms, per-kv-token = 0ns }
            engine.max-num-seqs = 1
            workload {
              requests = 200
              arrivals { kind = constant, request-rate = 10 }
              lengths { prompt { kind = fixed, mean = 16 }, output { kind = fixed, mean = 4 } }
            }
            """;

    @TempDir
    private Path directory;

    private String scenario() throws IOException {
        var file = directory.resolve("small.conf");
        Files.writeString(file, SCENARIO);
        return file.toString();
    }

    private static CommandLineFixture sweep(String scenario, String... more) {
        return call(Stream.concat(Stream.of("sweep", scenario), Stream.of(more)).toArray(String[]::new));
    }

    @Test
    void combinations_areRowsWithTheFiguresOfTheirRuns() throws IOException {
        String scenario = scenario();
        var json = sweep(scenario, "--vary", "cluster.replicas=1,2", "--vary", "workload.requests=20,30", "--json", "-")
                .json();

        assertThat(rows(json).map(row -> row.get("settings").toString()))
                .containsExactly(
                        "{\"cluster.replicas\":\"1\",\"workload.requests\":\"20\"}",
                        "{\"cluster.replicas\":\"1\",\"workload.requests\":\"30\"}",
                        "{\"cluster.replicas\":\"2\",\"workload.requests\":\"20\"}",
                        "{\"cluster.replicas\":\"2\",\"workload.requests\":\"30\"}");
        var run = call("run", scenario, "--set", "cluster.replicas=2", "--set", "workload.requests=30", "--json", "-")
                .json();
        var report = json.get("rows").get(3).get("runs").get(0).get("report");
        assertThat(report.get("mean_e2el_ms")).isEqualTo(run.get("mean_e2el_ms"));
        assertThat(report.get("mean_gpus").asDouble()).isEqualTo(2);
        assertThat(report.has("host")).isFalse();
        // A token every 10 ms.
        assertThat(report.get("output_throughput_per_user").asDouble()).isEqualTo(100);
    }

    /**
     * Prompts of 64 tokens, capped at 16 a step: four steps of 10 ms, and one where a request alone is not capped. They come
     * every second, so that each is alone.
     */
    @Test
    void versionsOfTheEngine_areCompared() throws IOException {
        var json = sweep(
                        scenario(),
                        "--set",
                        "workload.arrivals.request-rate=1",
                        "--set",
                        "workload.requests=5",
                        "--set",
                        "workload.lengths.prompt.mean=64",
                        "--set",
                        "engine.long-prefill-token-threshold=16",
                        "--set",
                        "latency.api-delay=0ms",
                        "--set",
                        "latency.api-delay-per-prompt-token=0us",
                        "--vary",
                        "engine.version=0.27,recorded,0.30,main",
                        "--json",
                        "-")
                .json();

        assertThat(rows(json)
                        .map(row -> row.get("runs")
                                .get(0)
                                .get("report")
                                .get("mean_ttft_ms")
                                .asDouble()))
                .containsExactly(40.0, 40.0, 40.0, 10.0);
    }

    /** One request at a time takes 40 ms, so from 25 per second on they queue up: the level of 100 ms breaks above. */
    @Test
    void highestRate_isWhereTheQueueBegins() throws IOException {
        var row = sweep(
                        scenario(),
                        "--max",
                        "workload.arrivals.request-rate=1..100",
                        "--set",
                        "slo.ttft=100ms",
                        "--set",
                        "slo.attainment=1",
                        "--json",
                        "-")
                .json()
                .get("rows")
                .get(0);

        assertThat(row.get("border").asText()).isEqualTo("found");
        assertThat(row.get("settings").get("workload.arrivals.request-rate").asDouble())
                .isBetween(24.5, 25.8);
        assertThat(row.get("tried").get(1).toString()).isEqualTo("{\"value\":\"100\",\"slo_met\":false}");
    }

    /** 100 requests per second of 40 ms each keep four replicas busy. */
    @Test
    void fewestReplicas_areThoseThatTheLoadKeepsBusy() throws IOException {
        var result = sweep(
                scenario(),
                "--min",
                "cluster.replicas=1..16",
                "--set",
                "slo.ttft=100ms",
                "--set",
                "workload.arrivals.request-rate=100");

        assertThat(result.out).contains("| 4 ").contains("| kept |");
    }

    @Test
    void brokenOffSweep_endsWithTheSameBytes() throws IOException {
        String scenario = scenario();
        String[] values = {"--vary", "cluster.replicas=1..4", "--seeds", "3", "--set", "workload.arrivals.kind=poisson"
        };
        var whole = directory.resolve("whole");
        var broken = directory.resolve("broken");
        sweep(scenario, with(values, "--out", whole.toString(), "--jobs", "3"));
        sweep(scenario, with(values, "--out", broken.toString(), "--jobs", "1"));
        // As a kill leaves it: five results, and half a line.
        var journal = broken.resolve("points.jsonl");
        var lines = Files.readAllLines(journal);
        Files.writeString(
                journal,
                String.join("\n", lines.subList(0, 6)) + "\n" + lines.get(6).substring(0, 40));

        sweep(scenario, with(values, "--out", broken.toString(), "--jobs", "2"));

        assertThat(lines).hasSize(1 + 12);
        assertThat(Files.readAllLines(journal)).hasSize(1 + 12);
        assertThat(broken.resolve("sweep.json")).hasSameTextualContentAs(whole.resolve("sweep.json"));
    }

    private static String[] with(String[] values, String... more) {
        return Stream.concat(Stream.of(values), Stream.of(more)).toArray(String[]::new);
    }

    @Test
    void otherScenario_doesNotTakeTheResults() throws IOException {
        String scenario = scenario();
        String out = directory.resolve("out").toString();
        sweep(scenario, "--out", out);

        var other = sweep(scenario, "--out", out, "--set", "workload.requests=10");

        assertThat(other.exitCode).isEqualTo(2);
        assertThat(other.err)
                .contains("has results of another sweep: " + scenario)
                .hasLineCount(1);
    }

    @Test
    void seeds_haveConfidence() throws IOException {
        var out = sweep(scenario(), "--seeds", "3", "--set", "workload.arrivals.kind=poisson").out;

        assertThat(out).containsPattern("\\d+\\.\\d+ \\+- \\d+\\.\\d+");
    }

    @Test
    void groups_varyByTheirNames() throws IOException {
        var json = call(
                        "sweep",
                        "conf/pd.conf",
                        "--vary",
                        "cluster.groups.prefill.replicas,cluster.groups.decode.replicas=1/3,3/1",
                        "--set",
                        "workload.requests=20",
                        "--json",
                        "-")
                .json();

        assertThat(rows(json)
                        .map(row -> row.get("runs")
                                .get(0)
                                .get("report")
                                .get("mean_gpus")
                                .asInt()))
                .containsExactly(4, 4);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--vary engine.max-num-sqs=1,2 | unknown key engine.max-num-sqs; did you mean engine.max-num-seqs?",
                "--vary engine.max-num-seqs=0..2 | small.conf engine.max-num-seqs=0: --set engine.max-num-seqs",
                "--max engine.max-num-seqs=1..8 | --max and --min need a service level",
                "--max engine.max-num-seqs=8 | --max engine.max-num-seqs=8: must be KEY=LOWEST..HIGHEST",
                "--max a=1..2 --min b=1..2 | --max does not go with --min",
                "--columns nothing | --columns nothing: no report has such a number",
                "--jobs 0 | --jobs at least 1",
                "--insecure | --listen, --bind, --tls, --insecure and --secret-file go with --cluster",
                "--cluster --listen 7355 | 7355 is not an address; it must be HOST:PORT",
                "--cluster --listen 127.0.0.1:0 | workers must know the port",
                "--cluster --listen 0.0.0.0:7355 | other machines can only be reached with --tls DIR, or with --insecure",
                "--cluster --bind 0.0.0.0 | other machines can only be reached with --tls DIR, or with --insecure",
                "--max a=1..2 --tolerance 2 | --tolerance 2.0: must be above 0"
            })
    void badInput_isOneLine(String arguments, String message) throws IOException {
        var result = sweep(scenario(), arguments.split(" "));

        assertThat(result.exitCode).isEqualTo(2);
        assertThat(result.err).contains(message).hasLineCount(1);
    }

    private static Stream<JsonNode> rows(JsonNode json) {
        return StreamSupport.stream(json.get("rows").spliterator(), false);
    }
}
