package understudy.app;

import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import understudy.app.console.ConsoleCommand;
import understudy.fidelity.ResultComparison;
import understudy.fidelity.Tolerances;

/** Compares two results. */
@Command(
        name = "compare",
        mixinStandardHelpOptions = true,
        description = {
            "Compares the result of a real server with that of an emulated one.",
            "",
            "Files of vllm bench serve --save-result, of understudy bench, and of understudy run --json will do;",
            "with --save-detailed in both, requests are compared one by one as well."
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
            "  understudy compare real.json emulated.json --tolerance 10%% --tolerance p99_ttft_ms=25%%"
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
        output.files().writeJson(comparison.json());
        int printed = output.print(output.isJsonOnStdout() ? comparison.json() : comparison.text());
        printed = Math.max(printed, output.writePage(comparison::writePage));
        return comparison.isWithin() ? printed : BEYOND_TOLERANCE;
    }
}
