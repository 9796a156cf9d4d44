package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import understudy.TestData;

/** The page that Prometheus reads. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class MetricsTest {
    private static final List<String> GOLDEN = TestData.lines("vllm-metrics.txt");
    private static final Path PROMTOOL = Path.of("/usr/bin/promtool");
    private static final Pattern VALUE = Pattern.compile(" \\S+$");

    @AutoClose
    private final ServerFixture server = twoReplicas();

    private static ServerFixture twoReplicas() {
        var server = new ServerFixture();
        server.numReplicas = 2;
        server.portsPerReplica = true;
        return server.start();
    }

    @Test
    void everySeriesOfAnIdleVllm_isThere() {
        var ours = series(server.get("/metrics").text().lines());

        // What differs by configuration is left out: the values in cache_config_info.
        var theirs = series(GOLDEN.stream());

        assertThat(ours).containsAll(theirs);
    }

    @Test
    void familiesHaveTheTypesOfVllm() {
        var ours = server.get("/metrics")
                .text()
                .lines()
                .filter(line -> line.startsWith("# TYPE"))
                .toList();

        var theirs = GOLDEN.stream().filter(line -> line.startsWith("# TYPE")).toList();

        assertThat(ours).containsAll(theirs);
    }

    /** Each old name has the values of the new one, for each replica, also at its own port. */
    @Test
    void oldNames_areThereIfAskedFor() {
        assertThat(server.get("/metrics").text())
                .doesNotContain("gpu_cache_usage_perc", "time_per_output_token_seconds{");
        try (var legacy = new ServerFixture()) {
            legacy.numReplicas = 2;
            legacy.moreSettings = "server.metrics.legacy-names = true";
            legacy.start();
            // 40 tokens, of which the second time two blocks of 16 are found: 32 of 80 queried.
            String call = "{\"prompt\": " + IntStream.range(100, 140).boxed().toList() + ", \"max_tokens\": 3,"
                    + " \"ignore_eos\": true}";
            for (int i = 0; i < 2; i++) {
                assertThat(legacy.post("/v1/completions", call, "X-data-parallel-rank", "1")
                                .status())
                        .isEqualTo(200);
            }

            String one = "engine=\"1\"";
            // Two answers of three tokens have two gaps each.
            legacy.awaitMetric("vllm:time_per_output_token_seconds_count", one, count -> count == 4);
            assertThat(legacy.metric("vllm:gpu_prefix_cache_queries_total", one))
                    .isEqualTo(80);
            assertThat(legacy.metric("vllm:gpu_prefix_cache_hits_total", one)).isEqualTo(32);
            assertThat(legacy.metric("vllm:gpu_prefix_cache_hit_rate", one)).isEqualTo(0.4);
            assertThat(legacy.metric("vllm:gpu_prefix_cache_hit_rate", "engine=\"0\""))
                    .isZero();
            assertThat(legacy.get("/metrics").text())
                    .contains(
                            "# TYPE vllm:gpu_cache_usage_perc gauge",
                            "# TYPE vllm:time_per_output_token_seconds histogram")
                    .contains("vllm:num_requests_swapped{engine=\"1\"", "vllm:cpu_cache_usage_perc{engine=\"0\"")
                    .contains("vllm:cpu_prefix_cache_hit_rate{engine=\"0\"");
        }
    }

    /** Names, labels and buckets of all series, but for the values of labels that depend on the configuration. */
    private static Set<String> series(Stream<String> lines) {
        var series = new TreeSet<String>();
        lines.filter(line -> !line.startsWith("#")).forEach(line -> {
            String name = VALUE.matcher(line).replaceFirst("");
            String masked = name.startsWith("vllm:cache_config_info") ? name.replaceAll("=\"[^\"]*\"", "") : name;
            series.add(sorted(masked));
        });
        return series;
    }

    /** The order of labels means nothing. */
    private static String sorted(String series) {
        int brace = series.indexOf('{');
        if (brace < 0) {
            return series;
        }
        var labels = Stream.of(series.substring(brace + 1, series.length() - 1).split(",", -1));
        return series.substring(0, brace) + labels.sorted().toList();
    }

    @Test
    void promtool_findsNothingButVllmsNames() throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(PROMTOOL), "there is no " + PROMTOOL);
        server.post("/v1/completions", "{\"prompt\": \"x\"}");
        var process = new ProcessBuilder(PROMTOOL.toString(), "check", "metrics")
                .redirectErrorStream(true)
                .start();
        try (var in = process.getOutputStream()) {
            in.write(server.get("/metrics").text().getBytes(java.nio.charset.StandardCharsets.UTF_8));
        }
        var complaints = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8)
                .lines()
                .filter(line -> !line.endsWith("metric names should not contain ':'"))
                .toList();
        process.waitFor();

        assertThat(complaints)
                .isSubsetOf(
                        List.of("vllm:iteration_tokens_total non-counter metrics should not have \"_total\" suffix"));
    }

    @Test
    void requests_areCounted() {
        double before = server.metric("vllm:request_success_total", "reason=\"length\"");
        double tokensBefore = server.metric("vllm:generation_tokens_total", "");
        double gapsBefore = server.metric("vllm:inter_token_latency_seconds_count", "");
        double firstBefore = server.metric("vllm:time_to_first_token_seconds_count", "");

        server.post("/v1/completions", "{\"prompt\": \"one two three\", \"max_tokens\": 5, \"ignore_eos\": true}");

        server.awaitMetric("vllm:request_success_total", "reason=\"length\"", count -> count == before + 1);
        server.awaitMetric("vllm:generation_tokens_total", "", count -> count == tokensBefore + 5);
        // Five tokens have four gaps.
        server.awaitMetric("vllm:inter_token_latency_seconds_count", "", count -> count == gapsBefore + 4);
        server.awaitMetric("vllm:time_to_first_token_seconds_count", "", count -> count == firstBefore + 1);
        server.awaitMetric("understudy_router_rule_decisions_total", "next in turn", count -> count > 0);
        assertThat(server.metric("understudy_router_score_count", "part=\"outstanding\""))
                .isEqualTo(server.metric("understudy_router_rule_decisions_total", ""));
        assertThat(server.metric("http_requests_total", "handler=\"/v1/completions\",method=\"POST\",status=\"2xx\""))
                .isPositive();
    }

    @Test
    void replicaPort_showsAndServesItsReplicaOnly() throws Exception {
        var second = server.server().replicaAddresses().get(1);
        String url = "http://127.0.0.1:" + second.getPort();
        double before = server.metric("understudy_router_decisions_total", "engine=\"1\"");

        for (int i = 0; i < 3; i++) {
            var request = java.net.http.HttpRequest.newBuilder(java.net.URI.create(url + "/v1/completions"))
                    .header("Content-Type", "application/json")
                    .POST(java.net.http.HttpRequest.BodyPublishers.ofString("{\"prompt\": \"x\"}"));
            assertThat(server.send(request).status()).isEqualTo(200);
        }

        server.awaitMetric("understudy_router_decisions_total", "engine=\"1\"", count -> count == before + 3);
        var page = server.send(java.net.http.HttpRequest.newBuilder(java.net.URI.create(url + "/metrics")))
                .text();
        assertThat(page).contains("vllm:num_requests_running{engine=\"0\"").doesNotContain("engine=\"1\"");
        assertThat(page.lines().filter(line -> line.startsWith("vllm:num_requests_running{")))
                .hasSize(1);
    }
}
