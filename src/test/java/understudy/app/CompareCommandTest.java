package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class CompareCommandTest {
    /** Requests 0 and 2 are answered: TTFT 100 and 200 ms, E2EL 300 and 200 ms. */
    private static final String REAL = """
        {"date": "20260101-000000", "backend": "vllm", "num_prompts": 3, "duration": 10.0, "completed": 2, "failed": 1,
         "request_throughput": 0.2, "request_goodput": null, "mean_ttft_ms": 150.0, "p99_ttft_ms": 199.0,
         "mean_e2el_ms": 250.0, "input_lens": [5, 5, 6], "output_lens": [3, 0, 1], "ttfts": [0.1, 0.0, 0.2],
         "itls": [[0.1, 0.1], [], []], "errors": ["", "boom", ""]}\
        """;

    /** Requests 0, 1 and 2, in the manner of a run: TTFT of 0 and 2 is 110 and 180 ms, E2EL 270 and 180 ms. */
    private static final String EMULATED = """
        {"partial": false, "duration": 10.0, "completed": 3, "failed": 0, "request_throughput": 0.2,
         "mean_ttft_ms": 135.0, "max_ttft_ms": 180.0, "mean_e2el_ms": 255.0, "step_digest": "0",
         "request_ids": [0, 1, 2], "input_lens": [5, 5, 7], "output_lens": [3, 2, 1],
         "ttfts": [0.11, 0.1, 0.18], "itls": [[0.08, 0.08], [0.1], []], "host": {"lateness_p50_ms": 1.0}}\
        """;

    @TempDir
    private Path directory;

    private String real = "";
    private String emulated = "";

    @BeforeEach
    void write() throws IOException {
        real = file("real.json", REAL);
        emulated = file("emulated.json", EMULATED);
    }

    /** Mean TTFT 135 / 150 is 10 % less, E2EL 255 / 250 is 2 % more; what only one of the files has is left out. */
    @Test
    void figuresOfBoth_standSideBySide() {
        var run = call("compare", real, emulated);

        assertThat(run.exitCode).as(run.err).isZero();
        assertThat(run.out)
                .startsWith("Real: vllm bench serve, emulated: understudy run\n")
                .contains("| mean_ttft_ms       | 150.00 |   135.00 |    -10.0 % |           |")
                .contains("| mean_e2el_ms       | 250.00 |   255.00 |     +2.0 % |           |")
                .contains("| completed          |   2.00 |     3.00 |    +50.0 % |           |")
                .contains("| failed             |   1.00 |     0.00 |   -100.0 % |           |")
                .doesNotContain("p99_ttft_ms", "max_ttft_ms", "lateness", "num_prompts");
    }

    /** Both have a mean TTFT, of 150 and 135 ms, and their requests; a difference of 10 % is more than 5. */
    @Test
    void page_hasBarsAndQuantiles() throws IOException {
        var page = directory.resolve("page.html");

        var run = call("compare", real, emulated, "--tolerance", "mean_ttft_ms=5%", "--html", page.toString());

        assertThat(run.exitCode).isEqualTo(3);
        assertThat(Files.readString(page))
                .contains("\"within\":false,\"beyond\":true")
                .contains("{\"name\":\"real\",\"ys\":[1.5E+2]}")
                .contains("{\"name\":\"emulated\",\"ys\":[135]}")
                .contains("\"quantiles\":{\"ttft\":{\"real\":{\"xs\":[");
    }

    /** TTFT differs by 10 and 20 ms, E2EL by 30 and 20, TPOT of request 0 by 100 - 80 = 20. P99 of 10 and 20 is 19.9. */
    @Test
    void requestsOfBoth_areComparedOneByOne() {
        assertThat(call("compare", real, emulated).out)
                .contains("| ttft       |     2 |       150.00 |           145.00 |              15.00 |            "
                        + " 19.90 |")
                .contains("| tpot       |     1 |       100.00 |            80.00 |              20.00 |            "
                        + " 20.00 |")
                .contains("| e2el       |     2 |       250.00 |           225.00 |              25.00 |            "
                        + " 29.90 |")
                .endsWith("1 of 2 pairs differ in the length of prompt or answer\n");
    }

    @Test
    void tolerance_isOfOneMetric_orOfAllOthers() {
        assertThat(call("compare", real, emulated, "--tolerance", "mean_ttft_ms=10.1%").exitCode)
                .isZero();
        assertThat(call("compare", real, emulated, "--tolerance", "mean_ttft_ms=9.9%").exitCode)
                .isEqualTo(3);
        assertThat(call("compare", real, emulated, "--tolerance", "mean_ttft_ms=9.9%").out)
                .contains("-10.0 % | 9.9 % exceeded |");
        assertThat(call("compare", real, emulated, "--tolerance", "51%").exitCode)
                .as("failed requests")
                .isEqualTo(3);
        assertThat(call("compare", real, emulated, "--tolerance", "51%", "--tolerance", "failed=100%").exitCode)
                .isZero();
    }

    @Test
    void json_hasTheSame() throws IOException {
        var run = call("compare", real, emulated, "--tolerance=mean_ttft_ms=5%", "--json", "-");

        assertThat(run.exitCode).isEqualTo(3);
        assertThat(run.json().get("within_tolerance").booleanValue()).isFalse();
        assertThat(run.json().get("compared_requests").intValue()).isEqualTo(2);
        assertThat(run.json().get("metrics"))
                .anySatisfy(
                        metric -> assertThat(metric)
                                .hasToString(
                                        "{\"name\":\"mean_ttft_ms\",\"real\":150.0,\"emulated\":135.0,"
                                                + "\"difference_percent\":-9.999999999999998,\"tolerance_percent\":5.0,\"within\":false}"));
        assertThat(run.json().get("requests").get(0).get("mean_absolute_ms").doubleValue())
                .isEqualTo(15);
    }

    @Test
    void withoutDetails_thereIsOneTable() throws IOException {
        var plain = file("plain.json", "{\"duration\": 1, \"completed\": 0, \"request_throughput\": 0}");

        assertThat(call("compare", real, plain).out).doesNotContain("by request");
        assertThat(call("compare", plain, plain).out).contains("| completed          | 0.00 |     0.00 |     +0.0 % |");
        // 0 against 2 is 100 % less, and the other way round infinitely more, which JSON cannot say.
        assertThat(call("compare", plain, real, "--json", "-").out).contains("\"difference_percent\" : null");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        {"a": 1}        | neither a result of vllm bench serve or understudy bench, nor a report of understudy run
        [1]             | neither a result
        nonsense        | not JSON, or more than one result: Unrecognized token
        {"a": 1} {}     | not JSON, or more than one result: Trailing token
        """)
    void fileThatIsNoResult_isOneLine(String content, String message) throws IOException {
        var run = call("compare", real, file("other.json", content));

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err).startsWith(directory.resolve("other.json") + ": " + message);
        assertThat(run.err.lines()).hasSize(1);
    }

    @Test
    void badTolerance_isOneLine() {
        assertThat(call("compare", real, emulated, "--tolerance", "mean_ttft_ms=10").err)
                .startsWith("--tolerance mean_ttft_ms=10: must be a share of the measured figure");
        assertThat(call("compare", real, emulated, "--tolerance", "p99_ttft_ms=10%").err)
                .startsWith(
                        "--tolerance p99_ttft_ms: not a metric of both files; those are duration, completed, failed,");
        assertThat(call("compare", real, "nowhere.json").err).isEqualTo("nowhere.json: no such file\n");
    }

    private String file(String name, String content) throws IOException {
        return Files.writeString(directory.resolve(name), content).toString();
    }
}
