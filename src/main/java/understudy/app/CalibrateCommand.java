package understudy.app;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import understudy.adopt.MetricsPage;
import understudy.app.console.ConsoleCommand;
import understudy.bench.BenchUnreachableException;
import understudy.fidelity.Calibration;
import understudy.fidelity.LayerCalibration;
import understudy.fidelity.MetricsCalibration;
import understudy.fidelity.RunCalibration;
import understudy.fidelity.ServerCalibration;
import understudy.fidelity.StepCalibration;
import understudy.fidelity.UnfitProbesException;
import understudy.latency.ProfileLatency;
import understudy.scenario.GpuFile;
import understudy.scenario.SpecFiles;
import understudy.settings.ScenarioException;
import understudy.settings.Section;
import understudy.workload.trace.CsvTable;

/** Fits a device to measurements. */
@Command(
        name = "calibrate",
        mixinStandardHelpOptions = true,
        description = {
            "Fits a device to measurements, or to a live server, and writes it as a file.",
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
            "profiles) give the three figures of matrix products for latency.model = roofline; --gpu is the data sheet.",
            "",
            "With --url a live server of vLLM or SGLang is probed, which should have nothing else to do: prompts of several"
                    + " lengths,",
            "cold and behind a cached prefix, alone and beside 1 to 64 requests that decode. Its steps give the five"
                    + " numbers, its first",
            "tokens the delay before a step. The file is then a section latency, for a scenario to include.",
            "",
            "With --from-metrics two scrapes of a loaded server give less: its pace at the mean step, as a factor of a generic"
                    + " device,",
            "and with vLLM the delay before a step."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done",
            "1:the server cannot be reached, fails, or has shown too little to fit",
            "2:bad input",
            "130:broken off by Ctrl-C"
        },
        footer = {
            "",
            "Examples:",
            "  understudy calibrate steps.csv --name my-device --out my-device.conf",
            "  understudy calibrate result.json --gpu h100 --name my-h100 --out my-h100.conf",
            "  understudy run conf/demo.conf --set latency.model=profile --set latency.gpu=my-device.conf",
            "  understudy calibrate linear_a100.csv --gpu a100-80g-sxm",
            "  understudy calibrate --url http://localhost:8000 --gpu h100-sxm --out my-server.conf",
            "  understudy calibrate --from-metrics before.txt after.txt --out my-server.conf",
            "  understudy run my-server.conf"
        })
public final class CalibrateCommand extends ConsoleCommand {
    private static final int NO_FIT = 1;
    private static final int INTERRUPTED = 130;

    @Parameters(
            arity = "0..1",
            paramLabel = "MEASUREMENTS",
            description = "CSV file of measured steps or layers, or JSON of a run.")
    private @Nullable Path file;

    @Mixin
    private ServerProbeOptions server;

    @Option(
            names = "--from-metrics",
            arity = "2",
            paramLabel = "FILE",
            description = "Two scrapes of the /metrics of a loaded server instead, the earlier one first.")
    private List<Path> scrapes = List.of();

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
        var measurements = file;
        long numSources = Stream.of(measurements != null, server.isGiven(), !scrapes.isEmpty())
                .filter(isGiven -> isGiven)
                .count();
        if (numSources != 1) {
            throw new ScenarioException("calibrate takes one of a file of measurements, --url and --from-metrics");
        }
        requireWritable();
        if (measurements != null) {
            return ofFile(measurements);
        }
        requireNoOtherProfile();
        return server.isGiven() ? ofServer() : print(metrics());
    }

    private ServerCalibration metrics() throws IOException {
        return MetricsCalibration.of(page(scrapes.get(0)), page(scrapes.get(1)), gpu);
    }

    private static MetricsPage page(Path file) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new ScenarioException(file + ": no such file");
        }
        return MetricsPage.read(file.toString(), Files.readString(file));
    }

    private void requireNoOtherProfile() {
        if (gpu != null && !GpuFile.read(base()).profile().equals(ProfileLatency.NONE)) {
            throw new ScenarioException("--gpu " + gpu + ": has a section profile of its own, which would win");
        }
    }

    private int ofServer() throws InterruptedException, IOException {
        try {
            var calibration = server.calibrate(gpu, console());
            return calibration == null ? INTERRUPTED : print(calibration);
        } catch (BenchUnreachableException | UnfitProbesException e) {
            console().warn(String.valueOf(e.getMessage()));
            return NO_FIT;
        }
    }

    private int print(ServerCalibration calibration) throws IOException {
        calibration.warnings().forEach(console()::warn);
        console().out().println(calibration.table());
        write(calibration.settings());
        return 0;
    }

    private int ofFile(Path measurements) throws IOException {
        if (!Files.isRegularFile(measurements)) {
            throw new ScenarioException(measurements + ": no such file");
        }
        var calibration = calibration(measurements);
        var device = calibration.device().with("name", deviceName(calibration)).with("aliases", List.of());
        calibration.warnings().forEach(console()::warn);
        console().out().println(calibration.table());
        write(device.render());
        return 0;
    }

    private void write(String text) throws IOException {
        if (out == null) {
            console().out().print(text);
        } else {
            ReportFiles.writeText(out, text);
        }
        console().out().flush();
    }

    /** vLLM's defaults go by the name of a GPU, so that it stays a part of the device's. */
    private String deviceName(Calibration calibration) {
        if (name != null) {
            return name;
        }
        return gpu == null ? "calibrated" : calibration.device().text("name") + "-calibrated";
    }

    private Calibration calibration(Path measurements) throws IOException {
        if (hasRun(measurements)) {
            return RunCalibration.of(measurements, base(), gpu != null);
        }
        return hasLayers(measurements)
                ? LayerCalibration.of(measurements, base())
                : StepCalibration.of(measurements, base(), gpu != null);
    }

    /** Returns whether the file is JSON. */
    private static boolean hasRun(Path measurements) throws IOException {
        try (var in = Files.newInputStream(measurements)) {
            return in.read() == '{';
        }
    }

    private static boolean hasLayers(Path measurements) {
        try (var csv = new CsvTable(measurements)) {
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
