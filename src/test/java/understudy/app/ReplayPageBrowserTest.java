package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The page that a replay leaves, in a real browser, which tells what its security policy had to stop. */
final class ReplayPageBrowserTest {
    @TempDir
    private Path directory;

    private PageBrowser browser;

    @AfterEach
    void close() {
        if (browser != null) {
            browser.close();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void charts_areDrawnInTheColorsOfTheSystem(int colorScheme) throws IOException {
        open(colorScheme, "--policy=lru,fifo,s3fifo,belady,infinite", "--capacity=10,20,40");

        assertThat(browser.complaints()).isEmpty();
        // A line two pixels wide across a chart of some hundreds, with its markers, and bars of some size.
        assertThat(browser.pixels("rates-chart", "line-0")).isGreaterThan(200);
        assertThat(browser.pixels("rates-chart", "ideal-0")).isGreaterThan(100);
        assertThat(browser.pixels("reuse-chart", "accent")).isGreaterThan(200);
    }

    @Test
    void replayWithoutCapacities_isDrawnToo() throws IOException {
        open(1, "--policy=infinite");

        assertThat(browser.complaints()).isEmpty();
        assertThat(browser.pixels("rates-chart", "ideal-2")).isPositive();
    }

    @Test
    void capacitiesThatAreClose_shareALabel() throws IOException {
        open(1, "--policy=lru", "--capacity=10,11,40");

        // 11 is 7 % of the way from 10 to 40 on a logarithmic axis, some 80 of more than 1,100 pixels; 1001 is one
        // pixel off.
        assertThat(labels()).isEqualTo(3);
        browser.close();
        open(1, "--policy=lru", "--capacity=1000,1001,4000");
        assertThat(labels()).isEqualTo(2);
    }

    private long labels() {
        return ((Number) browser.run("return Chart.getChart('rates-chart').scales.x.ticks.length")).longValue();
    }

    @Test
    void legend_hasTheOrderOfTheTable() throws IOException {
        open(1, "--policy=lfu,lfu-fifo,lru,belady,belady-bypass", "--capacity=10,40");

        assertThat(browser.run(
                        "return Chart.getChart('rates-chart').legend.legendItems.map((item) => item.text).join()"))
                .isEqualTo("lfu,lfu-fifo,lru,belady,belady-bypass");
    }

    /**
     * Of 15 and 35 blocks that go round, in a cache of 100 only the first access to each misses: 950 of 1,000 accesses hit,
     * 95 %, with any policy; all within a minute.
     */
    @Test
    void tables_haveTheNumbers() throws IOException {
        open(1, "--policy=lru,fifo,infinite", "--capacity=100");

        assertThat(browser.texts("#rates tr"))
                .containsExactly("Policy100", "lrubest 95.00 %", "fifobest 95.00 %", "infinite95.00 %");
        assertThat(browser.texts("#rates b")).containsExactly("95.00 %", "95.00 %");
        assertThat(browser.texts(".pair table:first-child tr"))
                .contains("LRU cache of blocksReuses hitOf all accesses", "6495095.00 %")
                .contains("1 min950100.00 %");
    }

    private void open(int colorScheme, String... options) throws IOException {
        var trace = Files.writeString(directory.resolve("t.jsonl"), trace());
        var page = directory.resolve("page.html");
        var args = new String[options.length + 3];
        args[0] = "replay";
        args[1] = trace.toString();
        args[2] = "--html=" + page;
        System.arraycopy(options, 0, args, 3, options.length);
        assertThat(call(args).exitCode).isZero();

        browser = PageBrowser.open(page, colorScheme);
    }

    /** Requests of two blocks, of which the first goes round 15 and the second round 35. */
    private static String trace() {
        var lines = new StringBuilder();
        for (int i = 0; i < 500; i++) {
            lines.append("{\"timestamp\": %d, \"input_length\": 1024, \"output_length\": 1, \"hash_ids\": [%d, %d]}\n"
                    .formatted(i, i % 15, 100 + i % 35));
        }
        return lines.toString();
    }
}
