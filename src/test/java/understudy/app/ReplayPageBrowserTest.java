package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static understudy.app.CommandLineFixture.call;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.logging.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/** The page that a replay leaves, in a real browser, which tells what its security policy had to stop. */
final class ReplayPageBrowserTest {
    private static final Path CHROMIUM = Path.of("/usr/bin/chromium");
    private static final Path DRIVER = Path.of("/usr/bin/chromedriver");

    /** Counts the pixels of a canvas that have a colour of the style sheet. */
    private static final String PIXELS = """
            const [id, name] = arguments;
            const hex = getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
            const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
            const canvas = document.getElementById(id);
            const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            let count = 0;
            for (let i = 0; i < data.length; i += 4) {
              count += data[i] === r && data[i + 1] === g && data[i + 2] === b && data[i + 3] === 255 ? 1 : 0;
            }
            return count;
            """;

    @TempDir
    private Path directory;

    private ChromeDriver browser;

    @AfterEach
    void close() {
        if (browser != null) {
            browser.quit();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void charts_areDrawnInTheColorsOfTheSystem(int colorScheme) throws IOException {
        open(colorScheme, "--policy=lru,fifo,s3fifo,belady,infinite", "--capacity=10,20,40");

        assertThat(complaints()).isEmpty();
        // A line two pixels wide across a chart of some hundreds, with its markers, and bars of some size.
        assertThat(pixels("rates-chart", "line-0")).isGreaterThan(200);
        assertThat(pixels("rates-chart", "ideal-0")).isGreaterThan(100);
        assertThat(pixels("reuse-chart", "accent")).isGreaterThan(200);
    }

    @Test
    void replayWithoutCapacities_isDrawnToo() throws IOException {
        open(1, "--policy=infinite");

        assertThat(complaints()).isEmpty();
        assertThat(pixels("rates-chart", "ideal-2")).isPositive();
    }

    @Test
    void capacitiesThatAreClose_shareALabel() throws IOException {
        open(1, "--policy=lru", "--capacity=10,11,40");

        // 11 is 7 % of the way from 10 to 40 on a logarithmic axis, some 80 of more than 1,100 pixels; 1001 is one
        // pixel off.
        assertThat(labels()).isEqualTo(3);
        browser.quit();
        open(1, "--policy=lru", "--capacity=1000,1001,4000");
        assertThat(labels()).isEqualTo(2);
    }

    private long labels() {
        return ((Number) browser.executeScript("return Chart.getChart('rates-chart').scales.x.ticks.length"))
                .longValue();
    }

    @Test
    void legend_hasTheOrderOfTheTable() throws IOException {
        open(1, "--policy=lfu,lfu-fifo,lru,belady,belady-bypass", "--capacity=10,40");

        assertThat(browser.executeScript(
                        "return Chart.getChart('rates-chart').legend.legendItems.map((item) => item.text).join()"))
                .isEqualTo("lfu,lfu-fifo,lru,belady,belady-bypass");
    }

    private void open(int colorScheme, String... options) throws IOException {
        assumeTrue(
                Files.isExecutable(CHROMIUM) && Files.isExecutable(DRIVER),
                "no " + CHROMIUM + " or " + DRIVER + " (Debian's packages chromium and chromium-driver)");
        var trace = Files.writeString(directory.resolve("t.jsonl"), trace());
        var page = directory.resolve("page.html");
        var args = new String[options.length + 3];
        args[0] = "replay";
        args[1] = trace.toString();
        args[2] = "--html=" + page;
        System.arraycopy(options, 0, args, 3, options.length);
        assertThat(call(args).exitCode).isZero();

        browser = browser(colorScheme);
        browser.get(page.toUri().toString());
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

    /** Chromium's preferred colour scheme: 0 is dark, 1 is light. */
    private static ChromeDriver browser(int colorScheme) {
        var logs = new LoggingPreferences();
        logs.enable(LogType.BROWSER, Level.ALL);
        var options = new ChromeOptions();
        options.setBinary(CHROMIUM.toFile());
        options.addArguments(
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--window-size=1200,1000",
                "--blink-settings=preferredColorScheme=" + colorScheme,
                "--host-resolver-rules=MAP * ~NOTFOUND");
        options.setCapability(ChromeOptions.LOGGING_PREFS, logs);
        var service = new ChromeDriverService.Builder()
                .usingDriverExecutable(new File(DRIVER.toString()))
                .build();
        return new ChromeDriver(service, options);
    }

    private long pixels(String canvas, String colorName) {
        return ((Number) browser.executeScript(PIXELS, canvas, colorName)).longValue();
    }

    private Iterable<String> complaints() {
        return browser.manage().logs().get(LogType.BROWSER).getAll().stream()
                .filter(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
                .map(LogEntry::getMessage)
                .toList();
    }
}
