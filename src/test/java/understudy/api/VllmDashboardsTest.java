package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
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
    private static final String QUERIES = "vllm-dashboard-series.txt";
    private static final Pattern SELECTOR = Pattern.compile("(\\+?)([a-z0-9_:]+)\\{([^}]*)}");
    private static final Pattern SAMPLE = Pattern.compile("([a-z0-9_:]+)(?:\\{(.*)})? (\\S+)");
    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"([^\"]*)\"");

    @AutoClose
    private final ServerFixture server = new ServerFixture();

    private List<Sample> samples = List.of();

    private record Sample(String name, Map<String, String> labels, double value) {}

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
        samples = server.get("/metrics")
                .text()
                .lines()
                .filter(line -> !line.startsWith("#"))
                .map(VllmDashboardsTest::sample)
                .toList();
    }

    private static Sample sample(String line) {
        var matcher = SAMPLE.matcher(line);
        assertThat(matcher.matches()).as(line).isTrue();
        var labels = new HashMap<String, String>();
        if (matcher.group(2) != null) {
            LABEL.matcher(matcher.group(2)).results().forEach(label -> labels.put(label.group(1), label.group(2)));
        }
        return new Sample(matcher.group(1), labels, Double.parseDouble(matcher.group(3)));
    }

    static Stream<String> panels() throws IOException {
        try (var in = VllmDashboardsTest.class.getResourceAsStream(QUERIES)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines().filter(line -> !line.isEmpty() && !line.startsWith("#")).toList().stream();
        }
    }

    @ParameterizedTest
    @MethodSource("panels")
    void panel_findsItsSeries(String panel) {
        var selectors =
                SELECTOR.matcher(panel.substring(panel.indexOf('|'))).results().toList();

        assertThat(selectors).as(panel).isNotEmpty();
        for (var selector : selectors) {
            var found = found(selector.group(2), List.of(selector.group(3).split(",")));
            assertThat(found).as(selector.group()).isNotEmpty();
            if (!selector.group(1).isEmpty()) {
                assertThat(found.stream().mapToDouble(Sample::value).sum())
                        .as(selector.group())
                        .isPositive();
            }
        }
    }

    private List<Sample> found(String name, List<String> labels) {
        var found = new ArrayList<Sample>();
        for (var sample : samples) {
            if (sample.name.equals(name) && labels.stream().allMatch(label -> hasLabel(sample, label))) {
                found.add(sample);
            }
        }
        return found;
    }

    private static boolean hasLabel(Sample sample, String label) {
        var withValue = LABEL.matcher(label);
        return withValue.matches()
                ? withValue.group(2).equals(sample.labels.get(withValue.group(1)))
                : label.isEmpty() || sample.labels.containsKey(label);
    }

    /** Quantiles need every bound, up to the one that all observations are below. */
    @Test
    void histograms_areComplete() {
        var counts = samples.stream()
                .filter(sample -> sample.name.endsWith("_count") && !sample.name.contains("router"))
                .toList();

        assertThat(counts).hasSizeGreaterThan(30);
        for (var count : counts) {
            String family = count.name.substring(0, count.name.length() - "_count".length());
            var bounds = found(family + "_bucket", List.of("le")).stream()
                    .filter(bucket -> bucket.labels.entrySet().containsAll(count.labels.entrySet()))
                    .toList();
            assertThat(bounds).as(family).hasSizeGreaterThan(3);
            assertThat(bounds.get(bounds.size() - 1).labels).containsEntry("le", "+Inf");
            assertThat(bounds.get(bounds.size() - 1).value).as(family).isEqualTo(count.value);
            assertThat(bounds.stream().map(Sample::value)).as(family).isSorted();
        }
    }
}
