package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import understudy.api.http.FaultHeaders;

/** What vLLM's Grafana dashboards ask Prometheus for is on our page, after some traffic. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class VllmDashboardsTest {
    @AutoClose
    private final ServerFixture server = new ServerFixture();

    private MetricsPage page = MetricsPage.read("");

    /** Two replicas that take turns: a long prompt comes to both, and again to both, so that both find it cached. */
    @BeforeAll
    void scrapeAfterTraffic() {
        server.numReplicas = 2;
        server.start();
        String prompt = "one two three ".repeat(20);
        for (int i = 0; i < 4; i++) {
            String body = "{\"prompt\": \"" + prompt + "\", \"max_tokens\": 4, \"ignore_eos\": true, \"stream\": true}";
            assertThat(server.post("/v1/completions", body).isDone()).isTrue();
        }
        for (int i = 0; i < 2; i++) {
            server.post("/v1/completions", "{\"prompt\": \"x\"}", FaultHeaders.FAIL, "true");
        }
        server.awaitMetric("vllm:request_success_total", "", count -> count == 6);
        server.awaitMetric("http_requests_total", "handler=\"/v1/completions\"", count -> count == 6);
        page = MetricsPage.read(server.get("/metrics").text());
    }

    static Stream<String> panels() throws IOException {
        return MetricsPage.panels("vllm-dashboard-series.txt");
    }

    @ParameterizedTest
    @MethodSource("panels")
    void panel_findsItsSeries(String panel) {
        page.requirePanel(panel);
    }

    /** Quantiles need every bound. */
    @Test
    void histograms_areComplete() {
        page.requireCompleteHistograms("vllm:", 30);
    }
}
