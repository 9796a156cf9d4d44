package understudy.app;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/** A real browser without a network, which tells what the security policy of a page had to stop. */
final class PageBrowser implements AutoCloseable {
    static final int DARK = 0;
    static final int LIGHT = 1;

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

    private static final String EMPTY_CHARTS = """
            const style = getComputedStyle(document.documentElement);
            const isDrawn = ({ canvas, chartArea, data: { datasets } }) => {
              const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
              const { top, bottom } = chartArea;
              const from = Math.floor(top) * canvas.width * 4;
              const to = Math.ceil(bottom) * canvas.width * 4;
              return datasets.filter(({ colorName }) => colorName !== 'muted').some(({ colorName }) => {
                const hex = style.getPropertyValue('--' + colorName).trim();
                const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
                for (let i = from; i < to; i += 4) {
                  if (data[i] === r && data[i + 1] === g && data[i + 2] === b) return true;
                }
                return false;
              });
            };
            return Object.values(Chart.instances).filter((chart) => !isDrawn(chart)).map(({ canvas }) => canvas.id);
            """;

    private final ChromeDriver driver;

    private PageBrowser(ChromeDriver driver) {
        this.driver = driver;
    }

    /** Opens a page in a window; the test is skipped where there is no browser. */
    static PageBrowser open(Path page, int colorScheme) {
        assumeTrue(
                Files.isExecutable(CHROMIUM) && Files.isExecutable(DRIVER),
                "no " + CHROMIUM + " or " + DRIVER + " (Debian's packages chromium and chromium-driver)");
        var browser = new PageBrowser(new ChromeDriver(
                new ChromeDriverService.Builder()
                        .usingDriverExecutable(new File(DRIVER.toString()))
                        .build(),
                options(colorScheme)));
        browser.driver.get(page.toUri().toString());
        return browser;
    }

    private static ChromeOptions options(int colorScheme) {
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
        return options;
    }

    /** Makes the window as wide as a telephone. */
    void narrow() {
        driver.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", 390, "height", 844, "deviceScaleFactor", 1, "mobile", true));
        driver.navigate().refresh();
    }

    /** Runs a script in the page, and returns what that returns. */
    Object run(String script, Object... arguments) {
        return driver.executeScript(script, arguments);
    }

    /** Returns what a script returns, which is a list of texts. */
    @SuppressWarnings("unchecked")
    List<String> list(String script, Object... arguments) {
        return (List<String>) run(script, arguments);
    }

    /** Returns the texts of all elements, without breaks. */
    List<String> texts(String selector) {
        return list(
                "return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent.replace(/\\s+/g, ' ').trim())",
                selector);
    }

    long pixels(String canvas, String colorName) {
        return ((Number) run(PIXELS, canvas, colorName)).longValue();
    }

    /** Returns the charts with nothing but axes: no pixel has a colour of any of its series. */
    List<?> emptyCharts() {
        return (List<?>) run(EMPTY_CHARTS);
    }

    List<String> complaints() {
        return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .filter(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
                .map(LogEntry::getMessage)
                .toList();
    }

    @Override
    public void close() {
        driver.quit();
    }
}
