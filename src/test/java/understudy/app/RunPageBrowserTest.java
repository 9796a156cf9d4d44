package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The page of a run, in a real browser. */
final class RunPageBrowserTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(ints = {PageBrowser.DARK, PageBrowser.LIGHT})
    void everyChart_isDrawnInTheColorsOfTheSystem(int colorScheme) {
        try (var browser = PageBrowser.open(page(), colorScheme)) {
            assertThat(browser.complaints()).isEmpty();
            assertThat(browser.emptyCharts()).isEmpty();
            assertThat((Long) browser.run("return document.querySelectorAll('canvas').length"))
                    .isGreaterThanOrEqualTo(15);
        }
    }

    @Test
    void nothing_isLoaded() {
        try (var browser = PageBrowser.open(page(), PageBrowser.LIGHT)) {
            assertThat((Long) browser.run("return performance.getEntriesByType('resource').length"))
                    .isZero();
        }
    }

    @Test
    void telephone_needsNoScrollingToTheSide() {
        try (var browser = PageBrowser.open(page(), PageBrowser.LIGHT)) {
            browser.narrow();

            assertThat(browser.run("return document.documentElement.scrollWidth"))
                    .isEqualTo(390L);
            assertThat(browser.emptyCharts()).isEmpty();
            assertThat(browser.complaints()).isEmpty();
        }
    }

    @Test
    void axes_nameTheirQuantityInReadableUnits() {
        // Requests of 400 tokens at 6 ms or more a token take over a second, from first token to last; a gap does not.
        try (var browser = open("conf/demo.conf", "--set=workload.lengths.output.min=400")) {
            assertThat(axis(browser, "e2el-cdf", "x")).isEqualTo("E2EL, log scale (s)");
            assertThat(axis(browser, "e2el-time", "y")).isEqualTo("E2EL (s)");
            assertThat(axis(browser, "itl-cdf", "x")).isEqualTo("ITL, log scale (ms)");
            assertThat(browser.list(
                            "return Object.values(Chart.instances).map((each) => each.options.scales.y.title.text)"))
                    .doesNotContain("");
        }
    }

    private static Object axis(PageBrowser browser, String chart, String axis) {
        return browser.run("return Chart.getChart(arguments[0]).options.scales[arguments[1]].title.text", chart, axis);
    }

    @Test
    void whatNeverChanges_isLeftOut() {
        try (var browser = open("conf/demo.conf")) {
            // A fleet of fixed size, whose router holds nothing back; the TTFT has its course beside its distribution.
            assertThat(browser.list("return Object.values(Chart.instances).map((each) => each.canvas.id)"))
                    .doesNotContain("ready-replicas", "preemptions", "tiers", "moved")
                    .contains("arrivals", "ttft-time");
            assertThat(browser.list("return Chart.getChart('queues').data.datasets.map((each) => each.label)"))
                    .doesNotContain("held in the router");
        }
    }

    @Test
    void courseOfWhatOnlySglangHas_isDrawn() {
        try (var browser = open("conf/demo.conf", "--set=engine.kind=sglang")) {
            assertThat(browser.complaints()).isEmpty();
            assertThat(browser.emptyCharts()).isEmpty();
            assertThat(browser.list("return Object.values(Chart.instances).map((each) => each.canvas.id)"))
                    .contains("own-0", "own-1", "own-2")
                    .doesNotContain("own-3");
            assertThat(browser.texts("#figures tr")).anyMatch(line -> line.startsWith("Most nodes of a radix tree"));
        }
        try (var browser = open("conf/demo.conf")) {
            assertThat(browser.list("return Object.values(Chart.instances).map((each) => each.canvas.id)"))
                    .doesNotContain("own-0");
            assertThat(browser.texts("#course p")).hasSize(1);
        }
    }

    @Test
    void figures_areThoseOfTheData() {
        try (var browser = open("conf/demo.conf", "--set=slo.e2el=1ns")) {
            assertThat(browser.texts("p.verdict.bad"))
                    .singleElement()
                    .asString()
                    .startsWith("Service level missed: 0 of 100 requests");
            assertThat(browser.texts("dl div")).contains("Answered requests100", "Service levelset", "Seed1");
            assertThat(browser.texts("#figures tr")).contains("Successful requests100");
            assertThat(browser.texts("#configuration th.words")).contains("Setting", "cluster.replicas");
            assertThat(browser.texts("#requests th")).contains("Request", "Why the router chose the replica");
            assertThat(browser.texts("#course p").get(0)).contains("ms, at most 600 of them");
            assertThat(browser.texts("#tables table")).isNotEmpty();
        }
    }

    private PageBrowser open(String scenario, String... options) {
        var page = directory.resolve("page.html");
        var args = new ArrayList<>(List.of("run", scenario, "--html=" + page, "--set=workload.requests=100"));
        args.addAll(List.of(options));
        var run = call(args.toArray(String[]::new));
        assertThat(run.exitCode).as(run.err).isZero();
        return PageBrowser.open(page, PageBrowser.LIGHT);
    }

    /** Prefill and decode apart, host memory in both, and little of it: whatever may have a chart has one. */
    private Path page() {
        var page = directory.resolve("page.html");
        var run = call(
                "run",
                "conf/pd.conf",
                "--html=" + page,
                "--set=workload.requests=150",
                "--set=workload.arrivals.request-rate=40",
                "--set=workload.sessions.turns.mean=3",
                "--set=kv-cache.num-gpu-blocks=200",
                "--set=kv-cache.tiers.host.gib=1");
        assertThat(run.exitCode).as(run.err).isZero();
        return page;
    }
}
