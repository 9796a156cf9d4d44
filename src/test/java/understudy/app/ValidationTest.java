package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static understudy.app.CommandLineFixture.call;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The scenarios of {@code conf/validation} against what real servers took. */
final class ValidationTest {
    private static final Path DATA = Path.of("../shared/data");
    private static final Pattern FIGURE =
            Pattern.compile("\\| ([A-Z][^|]*?) +\\|[^|]*\\|[^|]*\\| +([+-][0-9.]+) % \\|");
    private static final Pattern SUMMARY =
            Pattern.compile("(\\d+) rows, mean absolute error: TTFT ([0-9.]+) %, TPOT ([0-9.]+) %");

    @BeforeAll
    static void requireData() {
        assumeTrue(Files.isDirectory(DATA), "skipped: no measurements at " + DATA);
    }

    @Test
    void rtx4090_formulasMeetTheRequestsOfARealServer() {
        var errors = errorsOf("conf/validation/rtx-4090-llama-3.1-8b.conf");

        assertThat(errors).hasSize(10);
        assertThat(errors)
                .allSatisfy((figure, percent) -> assertThat(Math.abs(percent))
                        .as(figure)
                        .isLessThanOrEqualTo(figure.startsWith("P99") ? 12 : 8));
    }

    @Test
    void rtx4090_kernelTablesMeetTheMeans() {
        var errors = errorsOf(
                "conf/validation/rtx-4090-llama-3.1-8b.conf",
                "latency.model=profiled",
                "latency.profiled.tables=" + DATA + "/llmservingsim/kernels_rtx4090_llama8b_tp1");

        assertThat(errors).hasSize(10);
        for (String figure : List.of("Mean TTFT (ms)", "Mean TPOT (ms)", "Mean E2EL (ms)", "Duration (s)")) {
            assertThat(Math.abs(errors.get(figure))).as(figure).isLessThanOrEqualTo(2);
        }
    }

    @Test
    void h200_formulasMeetFortyMeasuredMeans() {
        var run = call("run", "conf/validation/h200-llama-3.3-70b-fp8.conf");

        assertThat(run.exitCode).as(run.err).isZero();
        var summary = SUMMARY.matcher(run.out);
        assertThat(summary.find()).as(run.out).isTrue();
        assertThat(summary.group(1)).isEqualTo("40");
        assertThat(Double.parseDouble(summary.group(2))).as("TTFT").isLessThanOrEqualTo(8);
        assertThat(Double.parseDouble(summary.group(3))).as("TPOT").isLessThanOrEqualTo(6);
    }

    private static Map<String, Double> errorsOf(String scenario, String... settings) {
        var args = new ArrayList<>(List.of("run", scenario));
        for (String setting : settings) {
            args.addAll(List.of("--set", setting));
        }
        var run = call(args.toArray(String[]::new));
        assertThat(run.exitCode).as(run.err).isZero();
        var errors = new LinkedHashMap<String, Double>();
        var figures = FIGURE.matcher(run.out);
        while (figures.find()) {
            errors.put(figures.group(1), Double.parseDouble(figures.group(2)));
        }
        return errors;
    }
}
