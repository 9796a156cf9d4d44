package understudy.app;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import understudy.app.console.ConsoleCommand;
import understudy.fidelity.DifferenceCauses;
import understudy.fidelity.ResultComparison;
import understudy.fidelity.Tolerances;
import understudy.scenario.ScenarioFile;
import understudy.settings.ScenarioException;

/** Compares two results. */
@Command(
        name = "compare",
        mixinStandardHelpOptions = true,
        description = {
            "Compares the result of a real server with that of an emulated one.",
            "",
            "Files of vllm bench serve --save-result, of understudy bench, and of understudy run --json will do;",
            "with --save-detailed in both, requests are compared one by one as well.",
            "",
            "With --scenario the emulated server is run again with the load, the capacity and the step times of the real"
                    + " one, one",
            "more each time: what a swap takes off the difference of a figure is due to it, and the rest to the scheduler"
                    + " or to",
            "what was not swapped. Step times are fitted as calibrate does it, so that REAL must have details and one"
                    + " replica."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done",
            "2:bad input, or a file that cannot be written",
            "3:a figure differs by more than its tolerance"
        },
        footer = {
            "",
            "Examples:",
            "  understudy compare real.json emulated.json",
            "  understudy compare real.json emulated.json --tolerance 10%% --tolerance p99_ttft_ms=25%%",
            "  understudy compare real.json emulated.json --scenario twin.conf --kv-tokens 41408"
        })
final class CompareCommand extends ConsoleCommand {
    private static final int BEYOND_TOLERANCE = 3;

    @Parameters(index = "0", paramLabel = "REAL", description = "Result of the real server.")
    private String real;

    @Parameters(index = "1", paramLabel = "EMULATED", description = "Result to hold against it.")
    private String emulated;

    @Option(
            names = "--tolerance",
            paramLabel = "METRIC=PERCENT",
            description =
                    "Largest difference in percent of the real figure, such as mean_ttft_ms=10%%; 10%% alone is for"
                            + " all metrics. Repeatable.")
    private List<String> tolerances = List.of();

    @Option(
            names = "--scenario",
            paramLabel = "SCENARIO",
            description = "Scenario of EMULATED, to say what the differences come from.")
    private @Nullable String scenario;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "Sets one setting of --scenario, over environment (UNDERSTUDY_KEY) and file. Repeatable.")
    private Map<String, String> settings = new LinkedHashMap<>();

    @Option(
            names = "--kv-tokens",
            paramLabel = "N",
            description = "Size of the real server's KV cache in tokens, as its log says, with --scenario.")
    private @Nullable Long kvTokens;

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description = "Writes the comparison as JSON; - is stdout, and then nothing else goes there.")
    private @Nullable String jsonFile;

    @Option(
            names = "--html",
            paramLabel = "FILE",
            description = "Writes a page with percentiles and quantiles, complete in one file.")
    private @Nullable String htmlFile;

    @Override
    public Integer call() throws Exception {
        var output = RunOutput.checked(console(), jsonFile, null, htmlFile, null);
        var comparison = ResultComparison.of(real, emulated, Tolerances.of(tolerances));
        var causes = causes();
        String json = comparison.json(causes);
        output.files().writeJson(json);
        int printed = output.print(
                output.isJsonOnStdout()
                        ? json
                        : comparison.text() + causes.map(DifferenceCauses::text).orElse(""));
        printed = Math.max(printed, output.writePage(comparison::writePage));
        return comparison.isWithin() ? printed : BEYOND_TOLERANCE;
    }

    private Optional<DifferenceCauses> causes() {
        if (scenario == null) {
            if (kvTokens != null || !settings.isEmpty()) {
                throw new ScenarioException("--kv-tokens and --set need --scenario");
            }
            return Optional.empty();
        }
        if (kvTokens != null && kvTokens < 1) {
            throw new ScenarioException("--kv-tokens is " + kvTokens + ", must be at least 1");
        }
        String file = scenario;
        var files = new ScenarioFile(System.getenv());
        return Optional.of(DifferenceCauses.of(
                real,
                swapped -> {
                    var all = new LinkedHashMap<>(settings);
                    all.putAll(swapped);
                    return files.load(file, all);
                },
                kvTokens == null ? OptionalLong.empty() : OptionalLong.of(kvTokens)));
    }
}
