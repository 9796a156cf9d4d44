package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import understudy.api.ServerFixture;
import understudy.api.call.RequestRecorder;

/** One file, four verbs: what a served process records before it is killed is run, replayed and sent again. */
final class RecordProcessTest {
    private static final String SCENARIO = "conf/serve.conf";

    @TempDir
    private Path directory;

    @Test
    void recordOfAKilledServer_isRunWithTheSameRequestsAndHits() throws Exception {
        var record = directory.resolve("today.jsonl");
        double servedHits = serveAndKill(record);

        for (String line : Files.readAllLines(record)) {
            assertThat(new ObjectMapper().readTree(line).isObject()).as(line).isTrue();
            assertThat(line).doesNotContain("\"text\"");
        }
        assertThat(Files.readString(record))
                .startsWith("{\"format\":\"understudy-trace\"")
                .endsWith("}\n");
        var run = call(
                        "run",
                        SCENARIO,
                        "--set",
                        "clock.speed=max",
                        "--set",
                        "workload.kind=understudy",
                        "--set",
                        "workload.trace=" + record,
                        "--json",
                        "-")
                .json();
        // 24 requests of the scenario, and one that bench sends before them; answers have 40 tokens each.
        assertThat(run.get("completed").asInt()).isEqualTo(25);
        assertThat(run.get("total_output_tokens").asInt()).isEqualTo(25 * 40);
        assertThat(run.get("prefix_cache_hits").asDouble())
                .isEqualTo(servedHits)
                .isPositive();
        var replay = call("replay", record.toString(), "--policy", "infinite", "--json", "-")
                .json();
        assertThat(replay.get("trace").get("requests").asInt()).isEqualTo(25);
    }

    /** Returns the prompt tokens that the server has found in its caches. */
    private static double serveAndKill(Path record) throws Exception {
        var process = ProcessFixture.command(
                        "serve", SCENARIO, "--port", "0", "--set", "clock.speed=50", "--record", record.toString())
                .redirectErrorStream(true)
                .start();
        try (var out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            String address = out.readLine();
            out.readLine();
            String url = address.substring(address.indexOf("http"));
            var bench = call(
                    "bench",
                    url,
                    "conf/demo.conf",
                    "--num-prompts",
                    "24",
                    "--max-concurrency",
                    "1",
                    "--set",
                    "workload.sessions.think-time.mean=20ms",
                    "--set",
                    "workload.lengths.output.kind=fixed",
                    "--set",
                    "workload.lengths.output.mean=40");
            assertThat(bench.exitCode).as(bench.err).isZero();
            return hits(url);
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    private static double hits(String url) throws IOException, InterruptedException {
        var metrics = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create(url + "/metrics")).build(),
                        HttpResponse.BodyHandlers.ofLines());
        return metrics.body()
                .filter(line -> line.startsWith("vllm:prefix_cache_hits_total{"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                .sum();
    }

    /** There is room for one adapter: sql is read from disk, chat, and sql again. Equal prompts of two share nothing. */
    @Test
    void recordOfTwoAdapters_isRunWithBoth() throws Exception {
        var record = directory.resolve("adapters.jsonl");
        double servedHits;
        try (var server = new ServerFixture();
                var recorder = new RequestRecorder(record, 16, false)) {
            server.moreSettings = "engine.lora { enable = true, lora-modules = [sql, chat] }";
            server.recorder = recorder;
            server.startAlone();
            for (String model : List.of("sql", "chat", "sql", "m")) {
                String body = "{\"model\": \"%s\", \"prompt\": \"%s\", \"max_tokens\": 8, \"ignore_eos\": true}";
                assertThat(server.post("/v1/completions", body.formatted(model, "words ".repeat(60)))
                                .status())
                        .isEqualTo(200);
            }
            servedHits = hits(server.url());
        }

        var run = call(
                        "run",
                        SCENARIO,
                        "--set",
                        "clock.speed=max",
                        "--set",
                        "cluster.replicas=1",
                        "--set",
                        "engine.lora.enable=true",
                        "--set",
                        "workload.kind=understudy",
                        "--set",
                        "workload.trace=" + record,
                        "--json",
                        "-")
                .json();
        assertThat(run.get("completed").asInt()).isEqualTo(4);
        assertThat(run.get("lora").get("num_loads").asInt()).isEqualTo(3);
        assertThat(run.get("prefix_cache_hits").asDouble())
                .isEqualTo(servedHits)
                .isPositive();
    }

    @Test
    void recordThatIsThereAlready_isNotOverwritten() throws IOException {
        var file = Files.writeString(directory.resolve("yesterday.jsonl"), "precious");

        assertThat(call("serve", SCENARIO, "--record", file.toString()).err)
                .contains("--record " + file + ": is there already; name a new file");
        assertThat(call("serve", SCENARIO, "--record-text").err).contains("needs --record");
        assertThat(file).hasContent("precious");
    }
}
