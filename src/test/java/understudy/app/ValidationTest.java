package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static understudy.app.CommandLineFixture.call;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
        var errors = errorsOf("conf/validation/rtx-4090-llama-3.1-8b-kernels.conf");

        assertThat(errors).hasSize(10);
        for (String figure : List.of("Mean TTFT (ms)", "Mean TPOT (ms)", "Mean E2EL (ms)", "Duration (s)")) {
            assertThat(Math.abs(errors.get(figure))).as(figure).isLessThanOrEqualTo(2);
        }
    }

    @Test
    void h200_formulasMeetFortyMeasuredMeans() throws IOException {
        var run = call("run", "conf/validation/h200-llama-3.3-70b-fp8.conf", "--json", "-");

        assertThat(run.exitCode).as(run.err).isZero();
        var json = run.json();
        assertThat(json.get("cells")).hasSize(40);
        assertThat(json.get("mean_absolute_ttft_error_percent").asDouble()).isLessThanOrEqualTo(8);
        assertThat(json.get("mean_absolute_tpot_error_percent").asDouble()).isLessThanOrEqualTo(6);
    }

    private static Map<String, Double> errorsOf(String scenario) {
        var run = call("run", scenario);
        assertThat(run.exitCode).as(run.err).isZero();
        var errors = new LinkedHashMap<String, Double>();
        var figures = FIGURE.matcher(run.out);
        while (figures.find()) {
            errors.put(figures.group(1), Double.parseDouble(figures.group(2)));
        }
        return errors;
    }
}
