package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The page about a run. */
final class RunPageTest {
    private static final Pattern DATA =
            Pattern.compile("<script type=\"application/json\" id=\"data\">(.*?)</script>", Pattern.DOTALL);
    private static final Pattern HOST = Pattern.compile("\"host\":\\{[^}]*}");
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
                "slo.ttft=1h | true | Service level met: 100 of 100 requests (100.00 %) had TTFT ≤ 3.600e+06 ms",
                "slo.e2el=1ns | false | Service level missed: 0 of 100 requests (0.00 %) had E2EL ≤ 1.000e-06 ms"
            })
    void verdict_isThatOfTheServiceLevel(String setting, boolean isGood, String words) throws IOException {
        var verdict = data("conf/demo.conf", "--set=" + setting).at("/verdicts/0");

        assertThat(verdict.get("good").asBoolean()).isEqualTo(isGood);
        assertThat(verdict.get("text").asText()).startsWith(words);
    }

    @Test
    void noServiceLevel_hasNoVerdict() throws IOException {
        assertThat(data("conf/demo.conf").get("verdicts")).isEmpty();
    }

    @Test
    void configuration_saysWhatDiffersFromTheDefaultsAndHowToRunItAgain() throws IOException {
        var setup = data("conf/demo.conf", "--seed=7").get("setup");

        assertThat(setup.get("command").asText())
                .endsWith("understudy run conf/demo.conf --set workload.requests=100 --set seed=7");
        assertThat(setup.get("settings"))
                .anyMatch(each -> each.toString().equals("{\"key\":\"seed\",\"default\":\"1\",\"value\":\"7\"}"));
        assertThat(setup.get("settings").findValuesAsText("key"))
                .contains("cluster.replicas")
                .doesNotContain("clock.speed");
    }

    @Test
    void result_isThatOfTheJson() throws IOException {
        var json = (ObjectNode) run("conf/pd.conf", "--json=-").json();
        var data = data("conf/pd.conf", "--save-detailed");

        assertThat(data.get("host").fieldNames())
                .toIterable()
                .containsExactlyElementsOf(() -> json.get("host").fieldNames());
        json.remove("host");
        assertThat(data.get("result")).isEqualTo(json);
    }

    @Test
    void linesAndTables_areThoseOfTheConsole() throws IOException {
        var data = data("conf/pd.conf", "--set=kv-cache.tiers.host.gib=1");
        var shown = data.get("shown");

        assertThat(shown.at("/blocks/0/lines/0")).hasToString("[\"Successful requests\",\"100\"]");
        assertThat(shown.get("blocks").findValuesAsText("title")).contains("KV Transfers and Tiers");
        assertThat(shown.get("parts").toString()).contains("[\"group decode\"", "[\"read\"", "[\"host\"");
        assertThat(data.get("setup").toString()).contains("nobody pushes it layer by layer");
    }

    @Test
    void curves_addUpToTheReport() throws IOException {
        var data = data("conf/demo.conf");
        var curve = data.at("/course/output_tokens");

        // Tokens per second, times the length of each interval.
        double sum = 0;
        double from = 0;
        for (int i = 0; i < curve.get("xs").size(); i++) {
            double to = curve.get("xs").get(i).asDouble();
            sum += curve.get("ys").get(i).asDouble() * (to - from);
            from = to;
        }
        long wanted = data.at("/result/total_output_tokens").asLong();
        assertThat(Math.round(sum)).isBetween(wanted - 2, wanted + 2);
    }

    @Test
    void slowestRequests_haveTheirReasons() throws IOException {
        assertThat(data("conf/demo.conf").at("/requests/slowest").findValuesAsText("reason"))
                .anyMatch(reason ->
                        reason.matches("most cached; it has cached blocks \\d+, outstanding \\d+; best other.*"));
    }

    @Test
    void manyRequests_areThinned() throws IOException {
        var rows = data("conf/demo.conf").at("/requests/by_request/rows");

        // Of 100 requests, at most 80: every second one.
        assertThat(rows).hasSize(50);
        assertThat(rows.get(1).get("number").asInt()).isEqualTo(2);
    }

    private JsonNode data(String scenario, String... options) throws IOException {
        var matcher = DATA.matcher(page(scenario, options));
        assertThat(matcher.find()).isTrue();
        return new ObjectMapper().readTree(matcher.group(1));
    }

    private String page(String scenario, String... options) throws IOException {
        var file = directory.resolve("page.html");
        var args = new ArrayList<>(List.of(options));
        args.add("--html=" + file);
        run(scenario, args.toArray(String[]::new));
        return Files.readString(file);
    }

    private static CommandLineFixture run(String scenario, String... options) {
        var args = new ArrayList<>(List.of("run", scenario, "--set=workload.requests=100"));
        args.addAll(List.of(options));
        var run = call(args.toArray(String[]::new));
        assertThat(run.exitCode).as(run.err).isZero();
        return run;
    }
}
