package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The trace of a run: its sums are those of the report. */
final class RunTraceTest {
    @TempDir
    private Path directory;

    private JsonNode report;
    private List<JsonNode> events;

    @Test
    void sums_areThoseOfTheReport() throws IOException {
        // So few blocks that requests take each other's.
        run(
                "conf/demo.conf",
                "--set=workload.requests=200",
                "--set=workload.arrivals.request-rate=40",
                "--set=engine.max-model-len=8000",
                "--set=kv-cache.num-gpu-blocks=520");

        var steps = of("X", "step").toList();
        assertThat(steps).hasSize((int) ofReplicas("steps"));
        assertThat(sum(steps, "tokens")).isEqualTo(ofReplicas("prefill_tokens") + ofReplicas("decode_tokens"));
        assertThat(sum(steps, "sampled"))
                .isEqualTo(report.get("total_output_tokens").asLong());
        var requests = of("b", "request").toList();
        assertThat(requests).hasSize(report.get("completed").asInt());
        assertThat(sum(requests, "output tokens"))
                .isEqualTo(report.get("total_output_tokens").asLong());
        assertThat(sum(requests, "prompt tokens"))
                .isEqualTo(report.get("total_input_tokens").asLong());
        assertThat(sum(of("i", "preemption").toList(), "requests"))
                .isPositive()
                .isEqualTo(report.get("num_preemptions").asLong());
        assertThat(of("i", "route")).hasSize(200);
    }

    /** With mixed chunks a prefill takes along who runs; else each step is a prefill or a decode. */
    @ParameterizedTest
    @CsvSource({"false, extend", "true, mixed"})
    void stepsOfSglang_areCalledAsTheirBatches(String isMixing, String prefill) throws IOException {
        run(
                "conf/demo.conf",
                "--set=workload.requests=50",
                "--set=engine.kind=sglang",
                "--set=engine.sglang.enable-mixed-chunk=" + isMixing);

        assertThat(of("X", prefill)).isNotEmpty();
        assertThat(of("X", "decode")).isNotEmpty();
        assertThat(Stream.of("extend", "decode", "mixed").flatMap(kind -> of("X", kind)))
                .hasSize((int) ofReplicas("steps"));
    }

    @Test
    void transfers_areThoseOfTheReport() throws IOException {
        run("conf/pd.conf", "--set=workload.requests=60", "--set=kv-cache.tiers.host.gib=1");

        var kinds = report.get("kv_transfers").get("transfers");
        for (String kind : List.of("read", "store")) {
            var moves = of("b", "KV " + kind).toList();
            assertThat(moves).isNotEmpty().hasSize(kinds.get(kind).get("count").asInt());
            assertThat(sum(moves, "bytes"))
                    .isEqualTo(kinds.get(kind).get("bytes").asLong());
        }
        assertThat(of("b", "loading")).isNotEmpty();
    }

    @Test
    void phases_fillTheTimeOfTheirRequest() throws IOException {
        run("conf/pd.conf", "--set=workload.requests=60");

        for (var request : of("b", "request").toList()) {
            String id = request.get("id").asText();
            Predicate<JsonNode> isPart = event -> event.path("id").asText().equals(id)
                    && event.get("cat").asText().equals("request");
            long begins = events.stream().filter(isPart).mapToLong(micros("b")).sum();
            long ends = events.stream().filter(isPart).mapToLong(micros("e")).sum();
            long whole = ends - begins;
            var end = of("e", "request").filter(isPart).findFirst().orElseThrow();

            // The request itself, and phases that are as long together.
            assertThat(whole).isEqualTo(2 * (nanos(end) - nanos(request)));
        }
    }

    @Test
    void processes_areTheRouterAndTheReplicasWithTheirGroups() throws IOException {
        run("conf/pd.conf", "--set=workload.requests=20");

        assertThat(of("M", "process_name")
                        .map(event -> event.get("args").get("name").asText()))
                .containsExactlyInAnyOrder(
                        "router",
                        "replica 0 (prefill)",
                        "replica 1 (prefill)",
                        "replica 2 (decode)",
                        "replica 3 (decode)");
    }

    @Test
    void watchedRun_givesTheSameReport() throws IOException {
        String[] plain = {"run", "conf/pd.conf", "--set=workload.requests=60", "--json=-"};
        var watched = call(
                "run",
                "conf/pd.conf",
                "--set=workload.requests=60",
                "--json=-",
                "--trace=" + directory.resolve("t.json"),
                "--html=" + directory.resolve("p.html"));

        assertThat(watched.jsonWithoutHost()).isEqualTo(call(plain).jsonWithoutHost());
    }

    private void run(String scenario, String... options) throws IOException {
        var trace = directory.resolve("trace.json");
        var args = new ArrayList<>(List.of("run", scenario, "--json=-", "--trace=" + trace));
        args.addAll(List.of(options));
        var run = call(args.toArray(String[]::new));
        assertThat(run.exitCode).as(run.err).isZero();
        report = run.json();
        var all = new ObjectMapper().readTree(Files.readString(trace)).get("traceEvents");
        events = StreamSupport.stream(all.spliterator(), false).toList();
    }

    private Stream<JsonNode> of(String phase, String name) {
        return events.stream()
                .filter(event -> event.get("ph").asText().equals(phase))
                .filter(event -> event.get("name").asText().equals(name));
    }

    private static ToLongFunction<JsonNode> micros(String phase) {
        return event -> event.get("ph").asText().equals(phase) ? nanos(event) : 0;
    }

    private static long nanos(JsonNode event) {
        return event.get("ts").decimalValue().movePointRight(3).longValueExact();
    }

    private static long sum(List<JsonNode> some, String argument) {
        return some.stream()
                .mapToLong(event -> event.get("args").get(argument).asLong())
                .sum();
    }

    private long ofReplicas(String figure) {
        return StreamSupport.stream(report.get("per_replica").spliterator(), false)
                .mapToLong(replica -> replica.get(figure).asLong())
                .sum();
    }
}
