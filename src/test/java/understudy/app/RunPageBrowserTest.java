package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import java.nio.file.Path;
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
