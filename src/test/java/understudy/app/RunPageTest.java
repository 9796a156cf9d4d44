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
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The page about a run. */
final class RunPageTest {
    private static final Pattern DATA =
            Pattern.compile("<script type=\"application/json\" id=\"data\">(.*?)</script>", Pattern.DOTALL);
    private static final Pattern HOST = Pattern.compile("<section id=\"host\".*?</section>", Pattern.DOTALL);
    private static final Pattern LOADS = Pattern.compile(
            "<(?:script|img|iframe|object|embed|source|video|audio)[^>]*\\s(?:src|data)=|@import|url\\(|sourceMappingURL");

    @TempDir
    private Path directory;

    @Test
    void sameSeed_givesTheSameBytesButForTheHost() throws IOException {
        String first = page("conf/pd.conf");
        String second = page("conf/pd.conf");

        assertThat(HOST.matcher(first).find()).isTrue();
        assertThat(HOST.matcher(first).replaceAll(""))
                .isEqualTo(HOST.matcher(second).replaceAll(""));
    }

    @Test
    void page_loadsNothing() throws IOException {
        String page = page("conf/demo.conf");

        assertThat(LOADS.matcher(page).results().map(match -> match.group())).isEmpty();
        assertThat(page).contains("Chart.js v4").doesNotContain("{{");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "slo.ttft=1h | good | Service level met: 100 of 100 requests (100.00 %) had TTFT &le; 3.600e+06 ms",
                "slo.e2el=1ns | bad | Service level missed: 0 of 100 requests (0.00 %) had E2EL &le; 1.000e-06 ms"
            })
    void verdict_isThatOfTheServiceLevel(String setting, String kind, String words) throws IOException {
        assertThat(page("conf/demo.conf", "--set=" + setting)).contains("<p class=\"verdict " + kind + "\">" + words);
    }

    @Test
    void noServiceLevel_isAFactAndNoVerdict() throws IOException {
        assertThat(page("conf/demo.conf"))
                .contains("<dt>Service level</dt><dd>none set</dd>")
                .doesNotContain("<p class=\"verdict");
    }

    @Test
    void axes_nameTheirQuantityInReadableUnits() throws IOException {
        // Requests of 400 tokens at 6 ms or more a token take over a second, from first token to last; a gap does not.
        String page = page("conf/demo.conf", "--set=workload.lengths.output.min=400");

        assertThat(chart(page, "e2el-cdf").get("x"))
                .isEqualTo(axis("{\"title\": \"E2EL, log scale\", \"unit\": \"s\"}"));
        assertThat(chart(page, "e2el-time").get("y")).isEqualTo(axis("{\"title\": \"E2EL\", \"unit\": \"s\"}"));
        assertThat(chart(page, "itl-cdf").get("x"))
                .isEqualTo(axis("{\"title\": \"ITL, log scale\", \"unit\": \"ms\"}"));
        assertThat(charts(page))
                .allSatisfy(chart -> assertThat(chart.at("/y/title").asText()).isNotEmpty());
    }

    @Test
    void whatNeverChanges_isLeftOut() throws IOException {
        String page = page("conf/demo.conf");

        // A fleet of fixed size, whose router holds nothing back; the TTFT has its course beside its distribution.
        assertThat(charts(page).stream().map(chart -> chart.get("id").asText()))
                .doesNotContain("ready-replicas", "ttft-course")
                .contains("arrivals", "ttft-time");
        assertThat(chart(page, "queues").findValuesAsText("name")).doesNotContain("held in the router");
    }

    @Test
    void configuration_saysWhatDiffersFromTheDefaultsAndHowToRunItAgain() throws IOException {
        String page = page("conf/demo.conf", "--seed=7");

        assertThat(page)
                .contains("understudy run conf/demo.conf --set workload.requests=100 --set seed=7</dd>")
                .contains("<th scope=\"row\" class=\"words\">seed</th><td class=\"words\">1</td><td"
                        + " class=\"words\">7</td>")
                .contains("class=\"words\">cluster.replicas</th>")
                .doesNotContain("class=\"words\">clock.speed</th>");
    }

    @Test
    void figures_areThoseOfTheConsole() throws IOException {
        String page = page("conf/pd.conf", "--set=kv-cache.tiers.host.gib=1");

        assertThat(page)
                .contains("<th scope=\"row\" class=\"words\">Successful requests</th><td>100</td>")
                .contains(">KV Transfers and Tiers</th>")
                .contains("<th scope=\"row\" class=\"words\">group decode</th>")
                .contains("<th scope=\"row\" class=\"words\">read</th>")
                .contains("<th scope=\"row\" class=\"words\">host</th>")
                .contains("nobody pushes it layer by layer");
    }

    @Test
    void curves_addUpToTheReport() throws IOException {
        var chart = chart(page("conf/demo.conf"), "output-tokens").get("series").get(0);
        long wanted = call("run", "conf/demo.conf", "--set=workload.requests=100", "--json=-")
                .json()
                .get("total_output_tokens")
                .asLong();

        // Tokens per second, times the length of each interval.
        double sum = 0;
        double from = 0;
        for (int i = 0; i < chart.get("xs").size(); i++) {
            double to = chart.get("xs").get(i).asDouble();
            sum += chart.get("ys").get(i).asDouble() * (to - from);
            from = to;
        }
        assertThat(Math.round(sum)).isBetween(wanted - 2, wanted + 2);
    }

    @Test
    void slowestRequests_haveTheirReasons() throws IOException {
        assertThat(page("conf/demo.conf"))
                .contains("Why the router chose the replica</th>")
                .containsPattern(
                        "<td class=\"words\">most cached; it has cached blocks \\d+, outstanding \\d+; best other");
    }

    @Test
    void manyRequests_areThinned() throws IOException {
        var lanes = chart(page("conf/demo.conf"), "request-lanes");

        // Of 100 requests, at most 80: every second one.
        assertThat(lanes.get("labels")).hasSize(50);
        assertThat(lanes.get("labels").get(1).asText()).isEqualTo("2");
    }

    private static JsonNode axis(String json) throws IOException {
        return new ObjectMapper().readTree(json);
    }

    private static JsonNode chart(String page, String id) throws IOException {
        return charts(page).stream()
                .filter(chart -> chart.get("id").asText().equals(id))
                .findFirst()
                .orElseThrow();
    }

    private static List<JsonNode> charts(String page) throws IOException {
        var matcher = DATA.matcher(page);
        assertThat(matcher.find()).isTrue();
        var charts = new ObjectMapper().readTree(matcher.group(1)).get("charts");
        return StreamSupport.stream(charts.spliterator(), false).toList();
    }

    private String page(String scenario, String... options) throws IOException {
        var file = directory.resolve("page.html");
        var args = new ArrayList<>(List.of("run", scenario, "--html=" + file, "--set=workload.requests=100"));
        args.addAll(List.of(options));
        var run = call(args.toArray(String[]::new));
        assertThat(run.exitCode).as(run.err).isZero();
        return Files.readString(file);
    }
}
