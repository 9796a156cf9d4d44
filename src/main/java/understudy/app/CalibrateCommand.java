package understudy.app;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import understudy.app.console.ConsoleCommand;
import understudy.fidelity.Calibration;
import understudy.fidelity.LayerCalibration;
import understudy.fidelity.RunCalibration;
import understudy.fidelity.StepCalibration;
import understudy.scenario.SpecFiles;
import understudy.settings.ScenarioException;
import understudy.settings.Section;
import understudy.workload.trace.CsvTable;

/** Fits a device to measurements. */
@Command(
        name = "calibrate",
        mixinStandardHelpOptions = true,
        description = {
            "Fits a device to measurements and writes it as a file for latency.gpu.",
            "",
            "Measured steps (CSV: step_ms, prefill_tokens, prefill_context, decodes, decode_context[, prefill_chunks];"
                    + " lengths are",
            "those of each sequence) give the five numbers of latency.model = profile. Eight steps do: decodes of 1, 8"
                    + " and 64",
            "sequences with short contexts, 32 with long ones, prefills of 512 and 2048 tokens, a chunk of 512 behind"
                    + " 4096, and",
            "1024 tokens of prefill beside 32 decodes.",
            "",
            "A whole run gives them, too: the JSON of vllm bench serve --save-detailed, of understudy bench"
                    + " --save-detailed, or",
            "of understudy run --save-detailed --json. All running requests have a token in each step, so steps show"
                    + " in when",
            "tokens came. Take a run of one replica with few and with many requests at a time, short and long prompts,"
                    + " and",
            "prompts that have nothing in common.",
            "",
            "Measured layers (CSV: model, tp, m, n_head, n_kv_head, n_embd, n_expanded_embd, use_gated_mlp, layer_us,"
                    + " as in Vidur's",
            "profiles) give the three figures of matrix products for latency.model = roofline; --gpu is the data sheet."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:done", "2:bad input"},
        footer = {
            "",
            "Examples:",
            "  understudy calibrate steps.csv --name my-device --out my-device.conf",
            "  understudy calibrate result.json --gpu h100 --name my-h100 --out my-h100.conf",
            "  understudy run conf/demo.conf --set latency.model=profile --set latency.gpu=my-device.conf",
            "  understudy calibrate linear_a100.csv --gpu a100-80g-sxm"
        })
public final class CalibrateCommand extends ConsoleCommand {
    @Parameters(paramLabel = "MEASUREMENTS", description = "CSV file of measured steps or layers, or JSON of a run.")
    private Path file;

    @Option(names = "--gpu", paramLabel = "GPU", description = "The GPU they were measured on, by name or path.")
    private @Nullable String gpu;

    @Option(
            names = "--name",
            paramLabel = "NAME",
            description = "Name of the fitted device. Default: the GPU's, and -calibrated.")
    private @Nullable String name;

    @Option(names = "--out", paramLabel = "FILE", description = "Where to write it. Default: only printed.")
    private @Nullable Path out;

    @Override
    public Integer call() throws Exception {
        if (!Files.isRegularFile(file)) {
            throw new ScenarioException(file + ": no such file");
        }
        requireWritable();
        var calibration = calibration();
        var device = calibration.device().with("name", deviceName(calibration)).with("aliases", List.of());
        calibration.warnings().forEach(console()::warn);
        var terminal = console().out();
        terminal.println(calibration.table());
        if (out == null) {
            terminal.print(device.render());
        } else {
            ReportFiles.writeText(out, device.render());
        }
        terminal.flush();
        return 0;
    }

    /** vLLM's defaults go by the name of a GPU, so that it stays a part of the device's. */
    private String deviceName(Calibration calibration) {
        if (name != null) {
            return name;
        }
        return gpu == null ? "calibrated" : calibration.device().text("name") + "-calibrated";
    }

    private Calibration calibration() throws IOException {
        if (hasRun()) {
            return RunCalibration.of(file, base(), gpu != null);
        }
        return hasLayers() ? LayerCalibration.of(file, base()) : StepCalibration.of(file, base(), gpu != null);
    }

    /** Returns whether the file is JSON. */
    private boolean hasRun() throws IOException {
        try (var in = Files.newInputStream(file)) {
            return in.read() == '{';
        }
    }

    private boolean hasLayers() {
        try (var csv = new CsvTable(file)) {
            return csv.next(List.of()) && !csv.text(LayerCalibration.TIME).isEmpty();
        }
    }

    private Section base() {
        if (gpu == null) {
            return SpecFiles.GPUS.blank("calibrated");
        }
        String wanted = gpu;
        return SpecFiles.isPath(wanted)
                ? SpecFiles.GPUS.read(Path.of(wanted))
                : SpecFiles.GPUS
                        .find(wanted)
                        .orElseThrow(() -> new ScenarioException(
                                "--gpu is \"" + wanted + "\", " + SpecFiles.GPUS.allowed(wanted)));
    }

    private void requireWritable() {
        if (out == null) {
            return;
        }
        ReportFiles.requireWritable("--out " + out, out.toAbsolutePath());
    }
}
