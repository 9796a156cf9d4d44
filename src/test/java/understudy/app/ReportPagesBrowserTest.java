package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.api.ServerFixture;

/** The pages of {@code sweep}, {@code compare} and {@code bench}, in a real browser. */
final class ReportPagesBrowserTest {
    @TempDir
    private static Path directory;

    private static final ServerFixture SERVER = new ServerFixture();

    @BeforeAll
    static void writePages() {
        SERVER.start();
        write(
                "sweep",
                "conf/demo.conf",
                "--set=workload.requests=40",
                "--set=slo.ttft=100ms",
                "--vary=cluster.replicas=1,2,4",
                "--vary=engine.max-num-seqs=8,64");
        for (String seed : new String[] {"1", "2"}) {
            run("run", "conf/demo.conf", "--set=workload.requests=40", "--set=seed=" + seed, "--json=" + json(seed));
        }
        write("compare", json("1"), json("2"), "--tolerance=100000%");
        write("bench", SERVER.url(), "--num-prompts=20", "--output-len=7");
    }

    @AfterAll
    static void stop() {
        SERVER.close();
    }

    private static String json(String seed) {
        return directory.resolve(seed + ".json").toString();
    }

    private static void write(String command, String... options) {
        var args = new String[options.length + 2];
        args[0] = command;
        System.arraycopy(options, 0, args, 1, options.length);
        args[args.length - 1] = "--html=" + directory.resolve(command + ".html");
        run(args);
    }

    private static void run(String... args) {
        var run = call(args);
        assertThat(run.exitCode).as(run.err).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"sweep", "compare", "bench"})
    void everyChart_isDrawnInTheDark(String command) {
        try (var browser = PageBrowser.open(directory.resolve(command + ".html"), PageBrowser.DARK)) {
            assertThat(browser.complaints()).isEmpty();
            assertThat((Long) browser.run("return document.querySelectorAll('canvas').length"))
                    .isPositive();
            assertThat(browser.emptyCharts()).isEmpty();
            assertThat(browser.run("return performance.getEntriesByType('resource').length"))
                    .isEqualTo(0L);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sweep", "compare", "bench"})
    void telephone_needsNoScrollingToTheSide(String command) {
        try (var browser = PageBrowser.open(directory.resolve(command + ".html"), PageBrowser.LIGHT)) {
            browser.narrow();

            assertThat(browser.run("return document.documentElement.scrollWidth"))
                    .isEqualTo(390L);
            assertThat(browser.emptyCharts()).isEmpty();
            assertThat(browser.complaints()).isEmpty();
        }
    }
}
