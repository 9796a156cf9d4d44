package understudy.app;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.openqa.selenium.chrome.ChromeDriver;
import understudy.api.Chromium;

/** A page in a real browser without a network, which tells what the security policy of the page had to stop. */
final class PageBrowser implements AutoCloseable {
    static final int DARK = 0;
    static final int LIGHT = 1;

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

    /** Opens a page in a tab; the test is skipped where there is no browser. */
    static PageBrowser open(Path page, int colorScheme) {
        var browser = new PageBrowser(Chromium.open());
        browser.driver.executeCdpCommand(
                "Emulation.setEmulatedMedia",
                Map.of(
                        "features",
                        List.of(Map.of(
                                "name", "prefers-color-scheme", "value", colorScheme == DARK ? "dark" : "light"))));
        browser.driver.get(page.toUri().toString());
        return browser;
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
        return Chromium.complaints(driver);
    }

    /** Leaves the page, so that it draws no more. */
    @Override
    public void close() {
        driver.get("about:blank");
    }
}
