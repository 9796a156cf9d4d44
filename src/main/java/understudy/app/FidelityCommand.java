package understudy.app;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import understudy.app.console.ConsoleCommand;
import understudy.fidelity.MeasuredCells;

/** Compares a scenario with a table of measured means. */
@Command(
        name = "fidelity",
        mixinStandardHelpOptions = true,
        description = {
            "Compares a scenario with a table of mean times that were measured at fixed concurrency.",
            "",
            "Each row of fidelity.cells (CSV: isl, osl, concurrency, tp, mean_ttft_ms, mean_tpot_ms) is run as a closed loop",
            "of as many clients as it says, on as many GPUs, with max-num-seqs = concurrency."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:done", "2:bad input, or a file that cannot be written"},
        footer = {
            "",
            "Example:",
            "  understudy fidelity conf/validation/h200-llama-3.3-70b-fp8.conf --set fidelity.cells=measured.csv"
        })
final class FidelityCommand extends ConsoleCommand {
    @Mixin
    private ScenarioOptions options;

    @Parameters(paramLabel = "SCENARIO", description = "Scenario file, HOCON or YAML; see conf/validation.")
    private String scenarioFile;

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description = "Writes the comparison as JSON; - is stdout, and then nothing else goes there.")
    private @Nullable String jsonFile;

    @Override
    public Integer call() throws Exception {
        var output = RunOutput.checked(console(), jsonFile);
        var cells = new MeasuredCells(options.load(scenarioFile, Map.of()));
        cells.run();
        output.files().writeJson(cells.json());
        return output.print(output.isJsonOnStdout() ? cells.json() : cells.text());
    }
}
