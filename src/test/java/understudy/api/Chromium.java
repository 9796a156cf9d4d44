package understudy.api;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.logging.Level;
import org.openqa.selenium.WindowType;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/**
 * The browser of Debian's packages chromium and chromium-driver, without a window. Its start takes longer than most tests: one
 * serves all tests of a JVM, each in a tab of its own, and ends with the JVM. It reaches nothing but this machine, so that a
 * page that needs more is broken.
 */
public final class Chromium {
    private static final Path PROGRAM = Path.of("/usr/bin/chromium");
    private static final Path DRIVER = Path.of("/usr/bin/chromedriver");

    /** The longest a script may take. */
    private static final Duration LIMIT = Duration.ofSeconds(15);

    private Chromium() {}

    /** The browser of this JVM, which starts when the first test asks for it. */
    private static final class Shared {
        static final ChromeDriver BROWSER = start();

        static {
            Runtime.getRuntime().addShutdownHook(new Thread(BROWSER::quit, "browser-quit"));
        }
    }

    /** Skips tests where there is none. */
    public static void assumeInstalled() {
        assumeTrue(
                Files.isExecutable(PROGRAM) && Files.isExecutable(DRIVER),
                "no " + PROGRAM + " or " + DRIVER + " (Debian's packages chromium and chromium-driver)");
    }

    /**
     * Returns the browser with one empty tab, and nothing left of the test before: its tabs are closed, its log is read. A
     * test must not quit it. The test is skipped where there is none.
     */
    public static ChromeDriver open() {
        assumeInstalled();
        var browser = Shared.BROWSER;
        var before = browser.getWindowHandles();
        String tab = browser.switchTo().newWindow(WindowType.TAB).getWindowHandle();
        for (String other : before) {
            browser.switchTo().window(other).close();
        }
        browser.switchTo().window(tab);
        browser.manage().logs().get(LogType.BROWSER);
        return browser;
    }

    /** Returns the warnings and errors that the browser has logged since the last call. */
    public static List<String> complaints(ChromeDriver browser) {
        return browser.manage().logs().get(LogType.BROWSER).getAll().stream()
                .filter(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
                .map(LogEntry::getMessage)
                .toList();
    }

    private static ChromeDriver start() {
        var logs = new LoggingPreferences();
        logs.enable(LogType.BROWSER, Level.ALL);
        var options = new ChromeOptions();
        options.setBinary(PROGRAM.toFile());
        options.addArguments(
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--window-size=1400,1000",
                "--host-resolver-rules=EXCLUDE localhost,MAP evil.example 127.0.0.1,MAP * ~NOTFOUND,EXCLUDE 127.0.0.1");
        options.setCapability(ChromeOptions.LOGGING_PREFS, logs);
        var service = new ChromeDriverService.Builder()
                .usingDriverExecutable(new File(DRIVER.toString()))
                .build();
        var started = new ChromeDriver(service, options);
        started.manage().timeouts().scriptTimeout(LIMIT);
        return started;
    }
}
