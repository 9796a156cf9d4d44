package understudy.app;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.app.CommandLineFixture.call;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.TestData;
import understudy.latency.BatchShape;
import understudy.latency.LatencyModel;
import understudy.latency.ProfileFit;
import understudy.scenario.Scenario;
import understudy.scenario.ScenarioFile;

final class CalibrateCommandTest {
    private static final String HEADER = "step_ms,prefill_tokens,prefill_context,decodes,decode_context\n";

    @TempDir
    private Path directory;

    /** Three figures per GPU predict the layers of a model that they were not fitted to; bounds in percent. */
    @ParameterizedTest
    @CsvSource({"a100, 6, 7, 4", "h100, 6, 9, 8"})
    void layersOfALeftOutModel_arePredicted(String gpu, double small, double middle, double large) {
        var file = TestData.require("vidur/linear_" + gpu + ".csv");

        var run = call("calibrate", file.toString(), "--gpu", gpu);

        assertThat(run.exitCode).as(run.err).isZero();
        var table = run.out.lines().filter(line -> line.contains("%")).toList();
        assertThat(table).hasSize(3);
        assertThat(percent(table.get(0), 3)).isLessThanOrEqualTo(small);
        assertThat(percent(table.get(1), 3)).isLessThanOrEqualTo(middle);
        assertThat(percent(table.get(2), 3)).isLessThanOrEqualTo(large);
        assertThat(table)
                .allSatisfy(line ->
                        assertThat(percent(line, 4)).as("the naive roofline").isGreaterThan(30));
    }

    /** Eight steps stand for a whole engine; steps are those that its measured kernels add up to. */
    @ParameterizedTest
    @CsvSource({
        "llama-3.1-8b, rtxpro6000_llama8b_tp1, 1, 10",
        "qwen3-32b, rtxpro6000_qwen32b_tp2, 2, 10",
        "llama-3.1-8b, rtx4090_llama8b_tp1, 1, 10"
    })
    void eightSteps_predictOthers(String llm, String tables, int tensorParallelSize, double percent) {
        var measured = TestData.require("llmservingsim");
        var engine = Scenario.read(new ScenarioFile(Map.of())
                        .load(
                                "conf/demo.conf",
                                Map.of(
                                        "latency.model",
                                        "profiled",
                                        "latency.llm",
                                        llm,
                                        "latency.gpu",
                                        "rtx-pro-6000",
                                        "latency.tensor-parallel-size",
                                        String.valueOf(tensorParallelSize),
                                        "latency.profiled.tables",
                                        measured + "/kernels_" + tables,
                                        "kv-cache.num-gpu-blocks",
                                        "9000")))
                .latency()
                .model();

        var fitted = ProfileFit.fit(steps(
                engine,
                List.of(
                        batch(0, 0, 1, 128),
                        batch(0, 0, 8, 128),
                        batch(0, 0, 64, 128),
                        batch(0, 0, 32, 4096),
                        batch(512, 0, 0, 0),
                        batch(2048, 0, 0, 0),
                        batch(512, 4096, 0, 0),
                        batch(1024, 0, 32, 1024))));

        var others = new ArrayList<BatchShape>();
        for (int prefill : new int[] {0, 128, 512, 1024, 2048}) {
            for (int prefillContext : new int[] {0, 1024, 4096}) {
                for (int decodes : new int[] {0, 1, 4, 16, 64, 128}) {
                    for (int decodeContext : new int[] {128, 512, 2048}) {
                        if (prefill + decodes > 0) {
                            others.add(batch(prefill, prefillContext, decodes, decodeContext));
                        }
                    }
                }
            }
        }
        double error = steps(engine, others).stream()
                .mapToDouble(step -> Math.abs(fitted.stepNanos(step.batch()) / step.nanos() - 1) * 100)
                .average()
                .orElseThrow();
        assertThat(error).isLessThanOrEqualTo(percent);
    }

    private static List<ProfileFit.Measurement> steps(LatencyModel engine, List<BatchShape> batches) {
        return batches.stream()
                .map(batch -> new ProfileFit.Measurement(batch, engine.stepNanos(batch)))
                .toList();
    }

    private static BatchShape batch(int prefill, int prefillContext, int decodes, int decodeContext) {
        var builder = new BatchShape.Builder();
        if (prefill > 0) {
            builder.add(prefill, prefillContext, true);
        }
        for (int i = 0; i < decodes; i++) {
            builder.add(1, decodeContext, true);
        }
        return builder.build();
    }

    @Test
    void steps_becomeADeviceThatRuns() throws IOException {
        // 10 ms for the weights, 0.1 ms per token, 1 us per token attended to: sqrt(10^2 + (0.1 m)^2) + S / 1000.
        var rows = new StringBuilder(HEADER);
        for (int decodes : new int[] {1, 10, 100, 400}) {
            for (int context : new int[] {9, 999}) {
                double millis = Math.hypot(10, 0.1 * decodes) + decodes * (context + 1) / 1e3;
                rows.append(String.format(Locale.ROOT, "%.6f,0,0,%d,%d%n", millis, decodes, context));
            }
        }
        String file = write("steps.csv", rows.toString());
        String device = directory.resolve("device.conf").toString();

        var run = call("calibrate", file, "--name", "mine", "--out", device);

        assertThat(run.exitCode).as(run.err).isZero();
        assertThat(run.out).contains("8 steps, mean absolute error 0.0 %");
        var step = call(
                "run",
                "conf/demo.conf",
                "--set",
                "latency.model=profile",
                "--set",
                "latency.gpu=" + device,
                "--explain-step",
                "50x1@499");
        // 50 tokens: sqrt(10^2 + 5^2) = 11.180 ms; 25,000 tokens attended to: 25 ms.
        assertThat(step.out).startsWith("A step of 50 decodes").contains("chunks (0 tokens): 36180.");
        assertThat(call(
                                "run",
                                "conf/demo.conf",
                                "--set",
                                "latency.model=roofline",
                                "--set",
                                "latency.llm=gpt2",
                                "--set",
                                "latency.gpu=" + device)
                        .err)
                .contains("whose file lacks bf16-tflops or bandwidth-gb-per-s");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "step_ms,decodes\\n1,1\\n | :1: no column prefill_tokens",
                "5,0,0,0,0\\n | :2: neither prefill_tokens nor decodes is above 0",
                "0,0,0,1,0\\n | :2: step_ms is 0, must be a number above 0",
                "5,1,0,1,0\\n | :2: prefill_tokens is 1, which is a decode",
                "'' | : no measurements"
            })
    void badMeasurements_areOneClearLine(String rows, String problem) throws IOException {
        String text = rows.replace("\\n", "\n");
        String file = write("bad.csv", text.startsWith("step_ms") ? text : HEADER + text);
        var out = directory.resolve("out.conf");

        var run = call("calibrate", file, "--out", out.toString());

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.err.lines()).hasSize(1);
        assertThat(run.err).startsWith(file + problem);
        assertThat(out).doesNotExist();
    }

    @Test
    void misuse_isReported() throws IOException {
        String layers = write(
                "layers.csv",
                "model,tp,m,n_head,n_kv_head,n_embd,n_expanded_embd,use_gated_mlp,layer_us\na,1,1,1,1,8,8,True,5\n");

        assertThat(call("calibrate", "nowhere.csv").err).isEqualTo("nowhere.csv: no such file\n");
        assertThat(call("calibrate", layers).err).contains("need a data sheet: --gpu NAME");
        assertThat(call("calibrate", layers, "--gpu", "h1000").err).startsWith("--gpu is \"h1000\", must be a GPU");
    }

    private static double percent(String line, int cell) {
        return Double.parseDouble(line.split("\\|", -1)[cell].replace("%", "").strip());
    }

    private String write(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text).toString();
    }
}
