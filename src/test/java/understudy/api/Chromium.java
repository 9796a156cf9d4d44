package understudy.api;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.logging.Level;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/** The browser of Debian's packages chromium and chromium-driver, without a window. */
public final class Chromium {
    private static final Path PROGRAM = Path.of("/usr/bin/chromium");
    private static final Path DRIVER = Path.of("/usr/bin/chromedriver");

    /** The longest a script may take. */
    private static final Duration LIMIT = Duration.ofSeconds(15);

    private Chromium() {}

    /** Skips tests where there is none. */
    public static void assumeInstalled() {
        assumeTrue(
                Files.isExecutable(PROGRAM) && Files.isExecutable(DRIVER),
                "no " + PROGRAM + " or " + DRIVER + " (Debian's packages chromium and chromium-driver)");
    }

    /**
     * Starts one that reaches nothing but this machine, so that a page that needs more would be broken.
     *
     * @param hostRules what names mean beside 127.0.0.1, tried first, such as {@code EXCLUDE localhost}; may be empty
     */
    public static ChromeDriver start(String... hostRules) {
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
                "--host-resolver-rules="
                        + String.join(",", hostRules)
                        + (hostRules.length == 0 ? "" : ",")
                        + "MAP * ~NOTFOUND,EXCLUDE 127.0.0.1");
        options.setCapability(ChromeOptions.LOGGING_PREFS, logs);
        var service = new ChromeDriverService.Builder()
                .usingDriverExecutable(new File(DRIVER.toString()))
                .build();
        var started = new ChromeDriver(service, options);
        started.manage().timeouts().scriptTimeout(LIMIT);
        return started;
    }
}
