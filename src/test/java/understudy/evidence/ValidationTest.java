package understudy.evidence;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import understudy.TestData;
import understudy.fidelity.cells.MeasuredCells;

/** The scenarios of {@code conf/validation} against what real servers took. */
public final class ValidationTest {
    private static final Pattern FIGURE =
            Pattern.compile("\\| ([A-Z][^|]*?) +\\|[^|]*\\|[^|]*\\| +([+-][0-9.]+) % \\|");

    @Test
    void rtx4090_formulasMeetTheRequestsOfARealServer() {
        var errors = errorsOf("conf/validation/rtx-4090-llama-3.1-8b.conf");

        assertThat(errors).hasSize(10);
        assertThat(errors)
                .allSatisfy((figure, percent) ->
                        assertThat(Math.abs(percent)).as(figure).isLessThanOrEqualTo(figure.startsWith("P99") ? 5 : 2));
    }

    @Test
    void rtx4090_kernelTablesMeetTheMeans() {
        var errors = errorsOf("conf/validation/rtx-4090-llama-3.1-8b-kernels.conf");

        assertThat(errors).hasSize(10);
        assertThat(errors)
                .allSatisfy((figure, percent) -> assertThat(Math.abs(percent))
                        .as(figure)
                        .isLessThanOrEqualTo(figure.startsWith("Mean") || figure.startsWith("Duration") ? 2 : 5));
    }

    /** Bounds in percent; fifteen cells for each of one, two, four and eight GPUs, two of them short of memory. */
    @Test
    void h200_formulasMeetMeasuredCells() throws IOException {
        var run = call("fidelity", path("inferencemax/llama-3.3-70b-fp8_h200_vllm.csv"), "--json", "-");

        assertThat(run.exitCode).as(run.err).isZero();
        var json = run.json();
        assertThat(json.get("cells")).hasSize(60);
        assertThat(json.get("left_out")).isEmpty();
        var all = json.get("summary").get(0);
        assertThat(all.get("cells").asInt()).isEqualTo(58);
        assertThat(all.get("mean_absolute_ttft_error_percent").asDouble()).isLessThanOrEqualTo(8);
        assertThat(all.get("mean_absolute_tpot_error_percent").asDouble()).isLessThanOrEqualTo(7);
    }

    /** 264 rows with known conditions are 168 cells: 60 of Llama and of gpt-oss each, 33 of MiniMax, 15 of Kimi. */
    @Test
    void h200_rowsOfAIConfiguratorAreReadAsCells() {
        var measured = MeasuredCells.read(TestData.require("aiconfigurator/measured_h200_vllm.csv"), "vllm");

        assertThat(measured.cells()).hasSize(168);
        assertThat(measured.leftOut()).hasSize(72);
    }

    /**
     * 190 rows are of one deployment each, of which 70 have unknown conditions. The other 120 are 75 cells: 15 of each of
     * three models, and 15 twice under another name or size.
     */
    @Test
    void h200_rowsOfSglangAreReadAsCells() {
        var measured = MeasuredCells.read(TestData.require("aiconfigurator/measured_h200_sglang.csv"), "sglang");

        assertThat(measured.cells()).hasSize(75);
        assertThat(measured.leftOut()).hasSize(67 + 70);
    }

    /** Bounds in percent; the cells of DeepSeek-V3 are the same runs. */
    @Test
    void h200_tablesMeetSglangsCells() throws IOException {
        var rows = Files.readAllLines(TestData.require("aiconfigurator/measured_h200_sglang.csv"));
        rows.subList(1, rows.size()).removeIf(row -> !row.contains("2026-03-25.csv; model=DeepSeek-R1"));
        var file = Files.write(Files.createTempFile("deepseek-r1", ".csv"), rows);
        file.toFile().deleteOnExit();
        var run = call(
                "fidelity",
                file.toString(),
                "conf/validation/closed-loop-sglang.conf",
                "--set",
                "latency.model=profiled",
                "--set",
                "latency.profiled.tables=" + path("aiconfigurator"),
                "--json",
                "-");

        assertThat(run.exitCode).as(run.err).isZero();
        var json = run.json();
        var all = json.get("summary").get(0);
        assertThat(all.get("cells").asInt()).isEqualTo(15);
        assertThat(all.get("mean_absolute_ttft_error_percent").asDouble()).isLessThanOrEqualTo(9);
        assertThat(all.get("mean_absolute_tpot_error_percent").asDouble()).isLessThanOrEqualTo(6);
    }

    /** Returns what a scenario of {@code conf/validation} lacks: its measurements, or a model and a GPU. */
    public static Map<String, String> measurements(String scenario) {
        var settings = new LinkedHashMap<String, String>();
        if (scenario.contains("closed-loop")) {
            settings.put("latency.llm", "llama-3.1-8b");
            settings.put("latency.gpu", "h100");
        } else if (scenario.contains("rtx-4090")) {
            settings.put("workload.trace", requestsWithPrefixes());
        }
        if (scenario.contains("rtx-pro-6000")) {
            settings.put("workload.trace", path("llmservingsim/workload_qwen3-30b-a3b.csv"));
        }
        if (scenario.contains("-kernels")) {
            settings.put("latency.profiled.tables", path("llmservingsim") + "/kernels_rtx4090_llama8b_tp1");
        }
        return settings;
    }

    /** Writes the requests of the RTX 4090 with the column of its workload that names shared prefixes, as paste does. */
    private static String requestsWithPrefixes() {
        var requests = TestData.require("llmservingsim/bench_RTX4090_Llama-3.1-8B_requests.csv");
        var workload = TestData.require("llmservingsim/workload_llama-3.1-8b.csv");
        try {
            var prefixes = Files.readAllLines(workload);
            var joined = new ArrayList<String>();
            for (String request : Files.readAllLines(requests)) {
                String row = prefixes.get(joined.size());
                assertThat(lengths(request, 1)).isEqualTo(lengths(row, 2));
                joined.add(request + row.substring(row.lastIndexOf(',')));
            }
            var file = Files.createTempFile("rtx-4090", ".csv");
            file.toFile().deleteOnExit();
            return Files.write(file, joined).toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> lengths(String row, int column) {
        return List.of(row.split(",", -1)).subList(column, column + 2);
    }

    private static String path(String name) {
        return TestData.require(name).toString();
    }

    private static Map<String, Double> errorsOf(String scenario) {
        var args = new ArrayList<>(List.of("run", scenario));
        measurements(scenario).forEach((key, value) -> args.addAll(List.of("--set", key + "=" + value)));
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
