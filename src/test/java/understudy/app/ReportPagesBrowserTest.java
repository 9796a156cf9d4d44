package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.api.ServerFixture;

/** The pages of all commands but {@code run} and {@code replay}, in a real browser. */
final class ReportPagesBrowserTest {
    /** Three requests of two blocks, of which they share the first. */
    private static final String TRACE = """
            {"timestamp": 0, "input_length": 1024, "output_length": 1, "hash_ids": [1, 2]}
            {"timestamp": 1000, "input_length": 1024, "output_length": 5, "hash_ids": [1, 3]}
            {"timestamp": 2000, "input_length": 900, "output_length": 9, "hash_ids": [1, 4]}
            """;

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
        write(
                "plan",
                "--model=llama-3.1-8b",
                "--gpus=h100",
                "--price=h100=2.5",
                "--requests=40",
                "--seeds=1",
                "--ttft-p99=500ms");
        for (String seed : new String[] {"1", "2"}) {
            run("run", "conf/demo.conf", "--set=workload.requests=40", "--set=seed=" + seed, "--json=" + json(seed));
        }
        write("compare", json("1"), json("2"), "--tolerance=100000%");
        write("bench", SERVER.url(), "--num-prompts=20", "--output-len=7");
        write("describe", file("</script><!--<img src=x onerror=alert(1)>.jsonl", TRACE));
        write("fidelity", file("cells.csv", "isl,osl,concurrency,tp,mean_ttft_ms,mean_tpot_ms\n100,9,1,1,14,10\n"));
    }

    private static String file(String name, String text) {
        var file = directory.resolve(name);
        try {
            Files.createDirectories(file.getParent());
            return Files.writeString(file, text).toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
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
    @ValueSource(strings = {"sweep", "plan", "compare", "bench", "describe", "fidelity"})
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

    @Test
    void hostileNames_areTexts() {
        try (var browser = PageBrowser.open(directory.resolve("describe.html"), PageBrowser.LIGHT)) {
            assertThat(browser.texts("h1").get(0)).endsWith("/script><!--<img src=x onerror=alert(1)>.jsonl");
            assertThat(browser.texts("img")).isEmpty();
            assertThat((String) browser.run("return document.title"))
                    .endsWith("</script><!--<img src=x onerror=alert(1)>.jsonl");
        }
    }

    @Test
    void measuredCells_nameThemselvesUnderTheMouse() {
        try (var browser = PageBrowser.open(directory.resolve("fidelity.html"), PageBrowser.LIGHT)) {
            // Measured with 10 ms per token and 14 to the first, on one GPU, with 100 and 9 tokens at 1 in flight.
            assertThat((String) browser.run("const chart = Chart.getChart('tpot-0-0');"
                            + "const raw = chart.data.datasets[0].data[0];"
                            + "return chart.options.plugins.tooltip.callbacks.label({dataset: {label: 'gpt2'}, raw})"
                            + ".join()"))
                    .startsWith("gpt2 TP1 100/9 x 1,measured TPOT 10 ms, emulated TPOT ")
                    .endsWith("%");
            assertThat(browser.run("return Chart.getChart('ttft-0-0').options.scales.x.type"))
                    .isEqualTo("logarithmic");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sweep", "plan", "compare", "bench", "describe", "fidelity"})
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
