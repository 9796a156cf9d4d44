package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The page of a run, in a real browser. */
final class RunPageBrowserTest {
    /** Names the charts on which there is nothing but the axes: no pixel has a colour of any of its series. */
    private static final String EMPTY_CHARTS = """
            const { charts } = JSON.parse(document.getElementById('data').textContent);
            const style = getComputedStyle(document.documentElement);
            const isDrawn = ({ id, series }) => {
              const canvas = document.getElementById(id);
              const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
              const { top, bottom } = Chart.getChart(id).chartArea;
              const from = Math.floor(top) * canvas.width * 4;
              const to = Math.ceil(bottom) * canvas.width * 4;
              return series.some(({ color }) => {
                const hex = style.getPropertyValue('--' + color).trim();
                const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
                for (let i = from; i < to; i += 4) {
                  if (data[i] === r && data[i + 1] === g && data[i + 2] === b) return true;
                }
                return false;
              });
            };
            return charts.filter((chart) => !isDrawn(chart)).map((chart) => chart.id);
            """;

    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(ints = {PageBrowser.DARK, PageBrowser.LIGHT})
    void everyChart_isDrawnInTheColorsOfTheSystem(int colorScheme) {
        try (var browser = PageBrowser.open(page(), colorScheme)) {
            assertThat(browser.complaints()).isEmpty();
            assertThat((List<?>) browser.run(EMPTY_CHARTS)).isEmpty();
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
            assertThat((List<?>) browser.run(EMPTY_CHARTS)).isEmpty();
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
