package understudy.app;

import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
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
final class ModelsCommand implements Callable<Integer> {
    @Spec
    private CommandSpec command;

    @Mixin
    @SuppressWarnings("unused") // its option acts when it is parsed
    private LogLevel logLevel;

    @Override
    public Integer call() {
        var models = SpecFiles.MODELS.all().stream().map(LlmFile::read).toList();
        var columns = Arrays.asList(
                Tables.words("model").<LlmFile>with(m -> m.spec().name()),
                Tables.number("weights (10^9)")
                        .<LlmFile>with(m -> decimal(m.spec().numParams() / 1e9)),
                Tables.number("published").<LlmFile>with(m -> decimal(m.paramsBillion())),
                Tables.number("layers")
                        .<LlmFile>with(m -> String.valueOf(m.spec().numLayers())),
                Tables.number("KV bytes/token").<LlmFile>with(m -> decimals(m, 0)),
                Tables.words("experts").<LlmFile>with(m -> experts(m.spec())),
                Tables.words("status").<LlmFile>with(m -> m.status().name().toLowerCase(Locale.ROOT)),
                Tables.words("source").<LlmFile>with(LlmFile::source));
        var out = command.commandLine().getOut();
        out.println(Tables.text(models, columns));
        out.flush();
        return 0;
    }

    private static String decimals(LlmFile model, int digits) {
        return String.format(Locale.ROOT, "%." + digits + "f", model.spec().kvBytesPerTokenPerRank(1, 2));
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
