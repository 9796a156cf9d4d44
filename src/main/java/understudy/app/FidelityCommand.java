package understudy.app;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import understudy.app.console.ConsoleCommand;
import understudy.app.console.LogLevel;
import understudy.app.console.StatusLine;
import understudy.fidelity.cells.CellComparison;
import understudy.fidelity.cells.CellRuns;
import understudy.fidelity.cells.CellScenario;
import understudy.fidelity.cells.MeasuredCells;
import understudy.runtime.Stopwatch;
import understudy.scenario.ScenarioFile;
import understudy.settings.ScenarioException;

/** Runs the cells of a table of measured means. */
@Command(
        name = "fidelity",
        mixinStandardHelpOptions = true,
        description = {
            "Runs every cell of a table of mean times that were measured at fixed concurrency, and compares.",
            "",
            "Columns of the CSV file, as AIConfigurator and InferenceMAX have them: isl, osl, silicon_ttft_ms or"
                    + " mean_ttft_ms,",
            "silicon_tpot_ms or mean_tpot_ms, concurrency (or silicon_concurrency= in silicon_data_source), tp_size or"
                    + " tp; and",
            "as far as there are such: model_path or model, system or gpu, backend, backend_version, mode, precision,",
            "gemm_quant_mode, moe_quant_mode, kv_cache_dtype, attention_dp_size, moe_tp_size, moe_ep_size,",
            "request_throughput or output_throughput.",
            "",
            "Each cell is a closed loop of as many clients as it says with ten requests each, lengths uniform from 0.8"
                    + " to 1 of",
            "isl and osl, and vLLM's max-num-seqs = concurrency. Equal cells are averaged. Rows that cannot be run, and"
                    + " those",
            "of another engine than the scenario's, are listed. So are, in no figure, rows that contradict themselves or"
                    + " one",
            "another by Little's law, and cells short of KV memory, in the measurement or here. Errors are medians, means"
                    + " and",
            "90th percentiles of absolute errors, and biases, by what cells have in common."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done",
            "2:bad input, or a file that cannot be written",
            "3:a mean error is above --max-tpot-mape or --max-ttft-mape"
        },
        footer = {
            "",
            "Examples:",
            "  understudy fidelity measured.csv",
            "  understudy fidelity measured.csv --set latency.model=profiled --set latency.profiled.tables=tables",
            "  understudy fidelity measured.csv --compare-models profiled,roofline --html cells.html",
            "  understudy fidelity measured.csv conf/validation/closed-loop-sglang.conf",
            "  understudy fidelity measured.csv conf/demo.conf --max-tpot-mape 10 --max-ttft-mape 15"
        })
final class FidelityCommand extends ConsoleCommand {
    private static final int BEYOND_LIMIT = 3;

    @Parameters(index = "0", paramLabel = "MEASURED", description = "CSV file of measured cells.")
    private Path measuredFile;

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "SCENARIO",
            defaultValue = CellScenario.CLOSED_LOOP,
            description = "What a row does not say: engine, memory, step times, or model and GPU. Default:"
                    + " ${DEFAULT-VALUE}, with 8192 batched tokens, no prefix caching and 90 %% of the memory.")
    private String scenarioFile;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "Sets one setting of all cells, over environment (UNDERSTUDY_KEY) and file. Repeatable.")
    private Map<String, String> settings = new LinkedHashMap<>();

    @Option(
            names = "--compare-models",
            paramLabel = "MODELS",
            split = ",",
            description = "Runs each cell with several latency models, such as profiled,roofline, side by side.")
    private List<String> latencyModels = new ArrayList<>();

    @Option(
            names = "--jobs",
            paramLabel = "N",
            description = "Cells that are run at a time. Default: one for each processor.")
    private int numJobs = Runtime.getRuntime().availableProcessors();

    @Option(
            names = "--max-tpot-mape",
            paramLabel = "PERCENT",
            description = "Largest mean absolute error of TPOT over all cells, with the first latency model.")
    private @Nullable Double maxTpotMape;

    @Option(names = "--max-ttft-mape", paramLabel = "PERCENT", description = "The same for TTFT.")
    private @Nullable Double maxTtftMape;

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description = "Writes the comparison as JSON; - is stdout, and then nothing else goes there.")
    private @Nullable String jsonFile;

    @Option(names = "--csv", paramLabel = "FILE", description = "Writes a line for each cell and latency model.")
    private @Nullable String csvFile;

    @Option(
            names = "--html",
            paramLabel = "FILE",
            description = "Writes a page with a point for each cell, complete in one file.")
    private @Nullable String htmlFile;

    FidelityCommand() {
        super(new LogLevel(LogLevel.Level.ERROR));
    }

    @Override
    public Integer call() throws Exception {
        var output = RunOutput.checked(console(), jsonFile, null, htmlFile, null);
        var csv = ReportFiles.writable("--csv", csvFile);
        var comparison = run();
        output.files().writeJson(comparison.json());
        if (csv != null) {
            ReportFiles.write(csv, comparison::writeCsv);
        }
        int printed = Math.max(
                output.print(output.isJsonOnStdout() ? comparison.json() : comparison.text()),
                output.writePage(out -> comparison.writePage(facts(), out)));
        return comparison.isWithin(limit(maxTpotMape), limit(maxTtftMape)) ? printed : BEYOND_LIMIT;
    }

    private static OptionalDouble limit(@Nullable Double percent) {
        return percent == null ? OptionalDouble.empty() : OptionalDouble.of(percent);
    }

    private CellComparison run() throws InterruptedException {
        if (numJobs < 1) {
            throw new ScenarioException("--jobs must be at least 1");
        }
        var scenario = new CellScenario(new ScenarioFile(System.getenv()), scenarioFile, settings);
        var measured = MeasuredCells.read(measuredFile, scenario.engineKind());
        var models = latencyModels.isEmpty() ? List.of(scenario.latencyModel()) : latencyModels;
        try (var runs = new CellRuns(measured, scenario, models, numJobs)) {
            var stopwatch = Stopwatch.start();
            StatusLine.onStderr()
                    .drawUntilDone(
                            runs.futures(),
                            () -> StatusLine.runs(
                                    numDone(runs.futures()), runs.futures().size(), stopwatch.seconds()));
            return runs.comparison();
        }
    }

    private static int numDone(List<? extends CompletableFuture<?>> futures) {
        return (int) futures.stream().filter(CompletableFuture::isDone).count();
    }

    private Map<String, String> facts() {
        var facts = new LinkedHashMap<String, String>();
        facts.put("Measured", measuredFile.toString());
        facts.put("Scenario", scenarioFile);
        if (!settings.isEmpty()) {
            facts.put("Settings of all cells", settings.toString());
        }
        facts.put("Version", Understudy.Version.text());
        return facts;
    }
}
