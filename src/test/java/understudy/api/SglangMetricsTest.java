package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import understudy.testkit.EmulatedCluster;

/** SGLang's metrics of replicas whose engine is SGLang ({@code sglang/srt/observability/metrics_collector.py}). */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class SglangMetricsTest {
    private static final String SGLANG = """
        engine.kind = sglang
        kv-cache.num-gpu-blocks = auto
        engine.sglang { max-total-tokens = 16000, page-size = 16 }
        server.sglang.enable-metrics = true
        """;

    /** A step takes 10 ms, and a request none to the queue. */
    private static final String SLOW = SGLANG + """
        engine.sglang.disable-overlap-schedule = true
        latency.model = linear
        latency.linear { per-step = 10ms, per-token = 0ns, per-decode-seq = 0ns, per-kv-token = 0ns }
        latency.api-delay = 0ms
        """;

    @AutoClose
    private final ServerFixture server = sglang();

    private MetricsPage page = MetricsPage.read("");

    private static ServerFixture sglang() {
        var server = new ServerFixture();
        server.moreSettings = SGLANG;
        return server;
    }

    @BeforeAll
    void scrapeAfterTraffic() {
        server.start();
        String prompt = "one two three ".repeat(20);
        for (String stream : new String[] {"true", "false"}) {
            String body = "{\"prompt\": \"" + prompt + "\", \"max_tokens\": 4, \"ignore_eos\": true, \"stream\": "
                    + stream + "}";
            assertThat(server.post("/v1/completions", body).status()).isEqualTo(200);
        }
        server.awaitMetric("sglang:num_requests_total", "", count -> count == 2);
        page = MetricsPage.read(server.get("/metrics").text());
    }

    static Stream<String> panels() throws IOException {
        return MetricsPage.panels("sglang-dashboard-series.txt");
    }

    @ParameterizedTest
    @MethodSource("panels")
    void panel_findsItsSeries(String panel) {
        page.requirePanel(panel);
    }

    @Test
    void histograms_areComplete() {
        page.requireCompleteHistograms("sglang:", 8);
    }

    @Test
    void prefills_areAStage() {
        assertThat(page.samples())
                .filteredOn(sample -> sample.name().equals("sglang:per_stage_req_latency_seconds_count"))
                .singleElement()
                .satisfies(sample -> assertThat(sample.toString()).contains("prefill_forward"))
                .satisfies(sample -> assertThat(sample.value()).isEqualTo(2));
    }

    @Test
    void vllmsFamilies_haveNoSeries() {
        assertThat(page.samples()).noneMatch(sample -> sample.name().startsWith("vllm:"));
    }

    @Test
    void typesAndLabels_areThoseOfTheCollector() {
        assertThat(server.get("/metrics").text())
                .contains(
                        "# TYPE sglang:num_running_reqs gauge",
                        "# TYPE sglang:num_retracted_requests_total counter",
                        "# TYPE sglang:time_to_first_token_seconds histogram",
                        "sglang:token_usage{dp_rank=\"0\",engine_type=\"unified\",model_name=\"m\",moe_ep_rank=\"0\","
                                + "pp_rank=\"0\",tp_rank=\"0\"}",
                        "sglang:num_requests_total{dp_rank=\"0\",engine_type=\"unified\",is_streaming=\"true\","
                                + "model_name=\"m\"} 1.0");
    }

    /** As without SGLang's --enable-metrics, which is its default. */
    @Test
    void withoutTheSetting_thereAreNone() {
        try (var plain = new ServerFixture()) {
            plain.moreSettings = SGLANG + "server.sglang.enable-metrics = false";
            plain.start();
            plain.post("/v1/completions", "{\"prompt\": \"x\"}");

            plain.awaitMetric("understudy_router_decisions_total", "", count -> count == 1);
            assertThat(plain.get("/metrics").text()).doesNotContain("sglang:", "vllm:");
        }
    }

    /** At its own port a replica is a server without data parallelism, so its series have no rank. */
    @Test
    void mixedFleet_hasBothDialects() {
        try (var mixed = new ServerFixture()) {
            mixed.portsPerReplica = true;
            mixed.moreSettings = """
                cluster.groups = [
                  { name = vllm, replicas = 1 }
                  { name = sglang, replicas = 1, engine.kind = sglang, kv-cache.num-gpu-blocks = auto }
                ]
                server.sglang.enable-metrics = true
                """;
            mixed.start();

            String all = mixed.get("/metrics").text();
            assertThat(all).contains("vllm:num_requests_running{engine=\"0\"", "sglang:num_running_reqs{dp_rank=\"1\"");
            assertThat(all).doesNotContain("vllm:num_requests_running{engine=\"1\"", "dp_rank=\"0\"");
            assertThat(metricsOf(mixed, 0)).contains("vllm:").doesNotContain("sglang:num_running_reqs{");
            assertThat(metricsOf(mixed, 1))
                    .contains("sglang:num_running_reqs{engine_type=\"unified\"")
                    .doesNotContain("dp_rank", "vllm:num_requests_running{");
        }
    }

    private static String metricsOf(ServerFixture fleet, int replica) {
        int port = fleet.server().replicaAddresses().get(replica).getPort();
        return fleet.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/metrics")))
                .text();
    }

    /**
     * A prefill of 10 ms, then a decode in every 10 ms: 81 tokens are there after 810 ms, with the 80th decode. The last 40 of
     * those took 400 ms.
     */
    @Test
    void throughput_isThatOfTheLast40Decodes() {
        try (var cluster = EmulatedCluster.servePaused(SLOW)) {
            cluster.submit(100, 100);
            cluster.advance(Duration.ofMillis(815));

            cluster.check().hasMetric("sglang:gen_throughput", 100);
            cluster.check().hasMetric("sglang:num_running_reqs", 1);
            // 100 + 81 tokens in pages of 16, of which the 12th is begun.
            cluster.check().hasMetric("sglang:num_used_tokens", 192);
            cluster.check().hasMetric("sglang:kv_available_tokens", 16_000 - 192);
            cluster.check().hasMetric("sglang:token_usage", 1 - (16_000.0 - 192) / 16_000);
            cluster.check().hasMetric("sglang:max_total_num_tokens", 16_000);

            cluster.advance(Duration.ofSeconds(1));
            cluster.check().hasMetric("sglang:gen_throughput", 0);
            // All but the last token are computed: 199, of which 12 pages are full and cached.
            cluster.check().hasMetric("sglang:kv_evictable_tokens", 192);
            cluster.check().hasMetric("sglang:num_used_tokens", 0);
        }
    }
}
