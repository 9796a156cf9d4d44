package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.ScriptTimeoutException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;

/** The live page in a real browser. */
final class LivePageBrowserTest {
    private static final Pattern COLOR = Pattern.compile("rgba?\\((\\d+), (\\d+), (\\d+).*");

    /** Waits, in the browser, until an element's text, or its attribute of that name, has a text in it. */
    private static final String AWAIT = """
        const [selector, name, text, done] = arguments;
        const valueOf = (element) => (name === '' ? element.innerText : element.getAttribute(name) ?? '');
        const check = () => {
          if ([...document.querySelectorAll(selector)].some((element) => valueOf(element).includes(text))) {
            observer.disconnect();
            done();
          }
        };
        const observer = new MutationObserver(check);
        observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
        check();
        """;

    private static final String SPEED = "return Number(document.getElementById('speed').value)";

    private final ServerFixture fixture = new ServerFixture();
    private ChromeDriver browser;

    @BeforeAll
    static void needsBrowser() {
        Chromium.assumeInstalled();
    }

    @AfterEach
    void close() {
        if (browser != null) {
            browser.get("about:blank");
        }
        fixture.close();
    }

    @Test
    void prompt_streamsAndShowsUpEverywhere() {
        fixture.numReplicas = 4;
        open();

        find("#max-tokens").sendKeys(Keys.chord(Keys.CONTROL, "a"), "12");
        find("#prompt").sendKeys(Keys.chord(Keys.CONTROL, "a"), "Tell me");
        find("#send").click();

        await("#usage", "12 output tokens");
        assertThat(find("#answer").getText()).isNotBlank();
        await("#decisions", "next in turn");
        await("#stats", "Finished\n1");
        assertThat(find("#model").getText()).isEqualTo("m");
        awaitAttribute("#lanes", "aria-label", "0 requests in flight, 1 ended lately");
        awaitAttribute("#chart-ttft", "aria-label", "Time to first token: p50 ");
        assertThat(complaints()).isEmpty();
    }

    @Test
    void controls_workByKeyboard() {
        fixture.numReplicas = 2;
        open();
        await("[data-replica='1'] .state", "ready");

        press("#pause");
        await("#clock-mode", "paused");
        find("#speed").sendKeys("2");
        press("#run");
        await("#clock-speed", "2 ×");
        press("[data-replica='1'] [data-action='crash']");
        await("[data-replica='1'] .state", "down");
        await("#message", "replica 1");
        assertThat(find("[data-replica='1'] [data-action='crash']").isEnabled()).isFalse();
        press("[data-replica='1'] [data-action='restart']");
        await("[data-replica='1'] .state", "ready");
        press("[data-replica='0'] [data-action='drain']");
        await("[data-replica='0'] .state", "draining");
        press("[data-replica='1'] [data-action='slow']");
        await("#message", "replica 1: steps take 3 times as long");
        assertThat(complaints()).isEmpty();
    }

    @Test
    void step_goesOnByOneInstant() {
        open();
        await("[data-replica='0'] .state", "ready");
        press("#pause");
        await("#clock-mode", "paused");
        find("#max-tokens").sendKeys(Keys.chord(Keys.CONTROL, "a"), "3");
        find("#send").click();
        // The request arrives 1 ms after it was sent, and has its tokens after three steps, each an instant or more.
        for (int i = 0; i < 30; i++) {
            press("#step");
        }

        await("#usage", "3 output tokens");
        await("#message", "one step further");
        assertThat(find("#clock-mode").getText()).isEqualTo("paused");
        assertThat(complaints()).isEmpty();
    }

    @Test
    void speedToRunAt_followsTheClock() {
        fixture.speed = 10;
        open();
        await("#clock-speed", "10 ×");
        assertThat(number(SPEED)).isEqualTo(10);

        // Not among the choices of the page.
        fixture.post("/admin/clock/run?speed=3", "");
        await("#clock-speed", "3 ×");
        assertThat(number(SPEED)).isEqualTo(3);

        // What is about to be chosen is left alone while the clock goes on as before.
        find("#speed").sendKeys("2");
        fixture.post("/v1/completions", "{\"prompt\": \"x\"}");
        await("#stats", "Finished\n1");
        assertThat(number(SPEED)).isEqualTo(2);
    }

    @Test
    void errors_areShownInWords() {
        fixture.numReplicas = 1;
        open();
        await("[data-replica='0'] .state", "ready");

        press("[data-action='crash']");
        await(".state", "down");
        find("#send").click();

        await("#usage.error", "no replica takes requests");
    }

    @Test
    void everything_hasANameForScreenReaders() {
        fixture.numReplicas = 2;
        open();
        await("[data-replica='1'] .state", "ready");

        browser.executeScript("document.querySelectorAll('details').forEach((details) => { details.open = true; })");
        for (var element :
                browser.findElements(By.cssSelector("button, input, select, textarea, summary, [role=img]"))) {
            assertThat(element.getAccessibleName())
                    .as(element.getDomProperty("outerHTML"))
                    .isNotBlank();
        }
        var regions = browser.findElements(By.cssSelector("section"));
        assertThat(regions)
                .hasSizeGreaterThan(5)
                .allSatisfy(region -> assertThat(region.getAccessibleName()).isNotBlank());
        assertThat(browser.findElements(By.cssSelector("[aria-hidden=true] button")))
                .isEmpty();
    }

    @Test
    void sixtyFourReplicas_fitTheWindow() {
        fixture.numReplicas = 64;
        open();

        await("[data-replica='63'] .state", "ready");
        assertThat(browser.findElements(By.cssSelector(".card"))).hasSize(64);
        assertThat(browser.findElements(By.cssSelector(".card details[open]"))).isEmpty();
        // Scrolling sideways is never needed.
        assertThat(number("return document.documentElement.scrollWidth - innerWidth"))
                .isLessThanOrEqualTo(0);
        assertThat(complaints()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"light", "dark"})
    void colors_followTheSystemAndAreReadable(String scheme) {
        fixture.numReplicas = 2;
        browser = Chromium.open();
        browser.executeCdpCommand(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
        show();
        await("[data-replica='1'] .state", "ready");

        boolean isDark = luminance(find("body").getCssValue("background-color")) < 0.2;
        assertThat(isDark).isEqualTo(scheme.equals("dark"));
        for (String selector : List.of("#model", "dt", ".kv", ".state", "#message", "button:enabled", "th")) {
            // WCAG 2.2, success criterion 1.4.3
            assertThat(contrast(find(selector))).as(selector).isGreaterThanOrEqualTo(4.5);
        }
    }

    @Test
    void timeAxis_isLinearAndShowsTheWindowOfItsHeading() {
        open();
        find("#send").click();
        awaitAttribute("#chart-ttft", "aria-label", "Time to first token: p50 ");

        // The server is younger than a minute, so that is the shortest window with all of it.
        assertThat(find("#latency-title").getText()).isEqualTo("Latency, last 1 min");
        assertThat(axis("type")).isEqualTo("linear");
        assertThat(axis("min")).isEqualTo(-60L);
        assertThat(axis("max")).isEqualTo(0L);
        find("#window").sendKeys("5");
        assertThat(find("#latency-title").getText()).isEqualTo("Latency, last 5 min");
        assertThat(axis("min")).isEqualTo(-300L);
        assertThat(browser.executeScript(
                        "return Chart.getChart('chart-ttft').scales.x.ticks.map((tick) => tick.label).join(' ')"))
                .isEqualTo("−5 min −4 min −3 min −2 min −1 min now");
    }

    /** Points at 0 to 9 s, of which those from 4 to 6 have no values, then one after a jump of the clock. */
    @Test
    void timeWithoutAnswers_isAGap() {
        open();

        Object drawn = browser.executeAsyncScript("""
            const done = arguments[arguments.length - 1];
            import('/page/charts.js').then(({ Charts }) => {
              const values = (at) => ({ p50: at >= 4 && at <= 6 ? null : 1, p95: null, p99: null });
              const point = (at) => ({ number: at, virtualSeconds: at, ttft: values(at), itl: {}, e2e: {} });
              const charts = new Charts();
              charts.replace([...Array(10).keys(), 50].map(point));
              const { data } = Chart.getChart(charts.charts[0].canvas).data.datasets[0];
              done(data.map(({ x, y }) => `${x}${y === null ? ' no' : ''}`).join(', '));
            });\
            """);

        assertThat(drawn).isEqualTo("-50, -49, -48, -47, -46 no, -45 no, -44 no, -43, -42, -41, -41 no, 0");
    }

    @Test
    void dangerousButtons_standApart() {
        open();
        await("[data-replica='0'] .state", "ready");

        assertThat(browser.findElements(By.cssSelector(".actions.apart button")).stream()
                        .map(WebElement::getText))
                .containsExactly("Crash", "Remove");
        assertThat(find("[data-action='crash']").getCssValue("color"))
                .isNotEqualTo(find("[data-action='drain']").getCssValue("color"));
        assertThat(find("[data-action='crash']").getRect().getY())
                .isGreaterThan(find("[data-action='fast']").getRect().getY());
    }

    @Test
    void telephone_hasRoomBelowTheHeader() {
        fixture.numReplicas = 2;
        browser = Chromium.open();
        browser.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", 390, "height", 844, "deviceScaleFactor", 1, "mobile", true));
        show();

        assertThat(find("header").getRect().getHeight()).isLessThan(844 / 5);
        assertThat(find("#run").getRect().getY())
                .isLessThan(find("#speed").getRect().getY()
                        + find("#speed").getRect().getHeight());
        assertThat(number("return document.documentElement.scrollWidth")).isEqualTo(390);
    }

    @Test
    void beforeTheFirstFigures_thePageSaysSo() {
        browser = Chromium.open();
        browser.executeCdpCommand("Network.enable", Map.of());
        browser.executeCdpCommand("Network.setBlockedURLs", Map.of("urls", List.of("*/live/events")));
        fixture.start();
        browser.get(fixture.url() + "/");

        await("#connection", "connection lost");
        assertThat(find("#before").getText()).isEqualTo("The server does not answer; this page tries again by itself.");
        assertThat(find("#content").isDisplayed()).isFalse();
        assertThat(find("#facts").isDisplayed()).isFalse();
    }

    private Object axis(String what) {
        return browser.executeScript("return Chart.getChart('chart-ttft').scales.x[arguments[0]]", what);
    }

    private void open() {
        browser = Chromium.open();
        show();
    }

    private void show() {
        fixture.start();
        browser.get(fixture.url() + "/");
        await("#connection", "live");
    }

    private WebElement find(String selector) {
        return browser.findElement(By.cssSelector(selector));
    }

    /** As somebody does who has no mouse. */
    private void press(String selector) {
        find(selector).sendKeys(Keys.ENTER);
    }

    private void await(String selector, String text) {
        awaitAttribute(selector, "", text);
    }

    private void awaitAttribute(String selector, String name, String text) {
        try {
            browser.executeAsyncScript(AWAIT, selector, name, text);
        } catch (ScriptTimeoutException e) {
            throw new AssertionError(selector + " has no " + name + " \"" + text + "\"", e);
        }
    }

    private List<String> complaints() {
        return Chromium.complaints(browser);
    }

    private double number(String script) {
        return ((Number) Objects.requireNonNull(browser.executeScript(script))).doubleValue();
    }

    /** The contrast of an element's text with the first background behind it. */
    private double contrast(WebElement element) {
        String behind = String.valueOf(browser.executeScript("""
            for (let e = arguments[0]; e; e = e.parentElement) {
              const color = getComputedStyle(e).backgroundColor;
              if (color !== 'rgba(0, 0, 0, 0)') return color;
            }
            return getComputedStyle(document.body).backgroundColor;\
            """, element));
        double text = luminance(element.getCssValue("color"));
        double background = luminance(behind);
        return (Math.max(text, background) + 0.05) / (Math.min(text, background) + 0.05);
    }

    /** WCAG's relative luminance of a colour. */
    private static double luminance(String color) {
        var matcher = COLOR.matcher(color);
        assertThat(matcher.matches()).as(color).isTrue();
        return 0.2126 * linear(matcher.group(1))
                + 0.7152 * linear(matcher.group(2))
                + 0.0722 * linear(matcher.group(3));
    }

    private static double linear(String channel) {
        double value = Integer.parseInt(channel) / 255.0;
        return value <= 0.04045 ? value / 12.92 : Math.pow((value + 0.055) / 1.055, 2.4);
    }
}
