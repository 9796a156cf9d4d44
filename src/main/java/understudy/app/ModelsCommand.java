package understudy.app;

import com.github.freva.asciitable.ColumnData;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import understudy.app.console.ConsoleCommand;
import understudy.latency.LlmSpec;
import understudy.report.Tables;
import understudy.scenario.LlmFile;
import understudy.scenario.SpecFiles;

/** Lists the models that {@code latency.llm} can name. */
@Command(
        name = "models",
        mixinStandardHelpOptions = true,
        description = {
            "Lists the models that latency.llm can name.",
            "A file of the same form, or a config.json of Hugging Face (or its folder), can be given by path.",
            "fitted: the formulas were checked on models of the kind."
        },
        footer = {
            "",
            "Examples:",
            "  understudy models",
            "  understudy run conf/demo.conf --set latency.llm=qwen3-8b ..."
        })
final class ModelsCommand extends ConsoleCommand {
    @Override
    public Integer call() {
        var models = SpecFiles.MODELS.all().stream().map(LlmFile::read).toList();
        List<ColumnData<LlmFile>> columns = List.of(
                Tables.words("model", m -> m.spec().name()),
                Tables.numbers("weights (10^9)", m -> decimal(m.spec().numParams() / 1e9)),
                Tables.numbers("published", m -> decimal(m.paramsBillion())),
                Tables.counts("layers", m -> m.spec().numLayers()),
                Tables.decimals("KV bytes/token", "%.0f", m -> m.spec().kvBytesPerTokenPerRank(1, 2)),
                Tables.words("experts", m -> experts(m.spec())),
                Tables.words("status", m -> m.status().name().toLowerCase(Locale.ROOT)),
                Tables.words("source", LlmFile::source));
        var out = console().out();
        out.println(Tables.text(models, columns));
        out.flush();
        return 0;
    }

    private static String decimal(double value) {
        return String.format(Locale.ROOT, value < 1 ? "%.3f" : "%.2f", value);
    }

    private static String experts(LlmSpec llm) {
        var ffn = llm.feedForward();
        return ffn.numExperts() == 0
                ? ""
                : ffn.numExpertsPerToken() + " of " + ffn.numExperts() + " x " + ffn.expertSize();
    }
}
