package understudy.app;

import com.github.freva.asciitable.ColumnData;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import understudy.app.console.ConsoleCommand;
import understudy.latency.HostOverhead;
import understudy.latency.LlmSpec;
import understudy.latency.Parallelism;
import understudy.latency.WeightFormat;
import understudy.latency.tables.KernelDatabase;
import understudy.latency.tables.KernelDatabaseException;
import understudy.latency.tables.MoeBackend;
import understudy.latency.tables.Mxfp4Activations;
import understudy.latency.tables.Placement;
import understudy.latency.tables.TableLatency;
import understudy.report.Tables;
import understudy.scenario.GpuFile;
import understudy.scenario.LlmFile;
import understudy.scenario.SpecFiles;
import understudy.settings.ScenarioException;

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
            "  understudy models --tables aiconfigurator --gpu h200 --tensor-parallel-size 8",
            "  understudy run conf/demo.conf --set latency.llm=qwen3-8b ..."
        })
final class ModelsCommand extends ConsoleCommand {
    @ArgGroup(exclusive = false)
    private @Nullable Coverage coverage;

    /** Options that go with {@code --tables}. */
    private static final class Coverage {
        @Option(
                names = "--tables",
                required = true,
                paramLabel = "DIR",
                description = "Lists instead which kernels NVIDIA AIConfigurator's database in this directory has.")
        private Path tables = Path.of("");

        @Option(names = "--gpu", required = true, paramLabel = "NAME", description = "On this GPU.")
        private String gpu = "";

        @Option(names = "--tensor-parallel-size", paramLabel = "N", description = "Of so many. Default: 1")
        private int tensorParallelSize = 1;
    }

    @Override
    public Integer call() {
        var out = console().out();
        out.println(coverage == null ? models() : covered(coverage));
        out.flush();
        return 0;
    }

    private static String models() {
        var models = SpecFiles.MODELS.all().stream().map(LlmFile::read).toList();
        List<ColumnData<LlmFile>> columns = List.of(
                Tables.words("model", m -> m.spec().name()),
                Tables.numbers("weights (10^9)", m -> decimal(m.spec().numParams() / 1e9)),
                Tables.numbers("published", m -> decimal(m.paramsBillion())),
                Tables.counts("layers", m -> m.spec().numLayers()),
                Tables.decimals("KV bytes/token", "%.0f", m -> m.spec().kvBytesPerTokenPerRank(1, 2)),
                Tables.words("KV groups", m -> kvGroups(m.spec())),
                Tables.words("experts", m -> experts(m.spec())),
                Tables.words("status", m -> m.status().name().toLowerCase(Locale.ROOT)),
                Tables.words("source", LlmFile::source));
        return Tables.text(models, columns);
    }

    private static String kvGroups(LlmSpec llm) {
        var groups = llm.layerGroups();
        return groups.numPartial() == 0
                ? ""
                : groups.numFull() + " full, " + groups.numPartial()
                        + (llm.linearAttention() == null ? " window" : " state");
    }

    private static String covered(Coverage wanted) {
        var gpu = SpecFiles.GPUS
                .find(wanted.gpu)
                .map(GpuFile::read)
                .orElseThrow(
                        () -> new ScenarioException("--gpu " + wanted.gpu + " " + SpecFiles.GPUS.allowed(wanted.gpu)));
        var models = SpecFiles.MODELS.all().stream()
                .map(file -> LlmFile.read(file).spec())
                .filter(llm -> llm.attention().numHeads() % wanted.tensorParallelSize == 0)
                .toList();
        return Tables.text(
                models,
                List.of(
                        Tables.words("model", LlmSpec::name),
                        Tables.words("weights", llm -> word(llm.weights())),
                        Tables.words("experts", llm -> llm.numMoeLayers() == 0 ? "" : word(llm.expertWeights())),
                        Tables.words("not measured", llm -> missing(wanted, gpu, llm))));
    }

    private static String missing(Coverage wanted, GpuFile gpu, LlmSpec llm) {
        var placement = new Placement(
                llm,
                gpu.spec(),
                Parallelism.ofTensors(wanted.tensorParallelSize),
                2,
                Mxfp4Activations.AUTO,
                MoeBackend.AUTO);
        var database = new KernelDatabase(wanted.tables);
        try {
            var latency = new TableLatency(database, gpu.kernelTables(), Map.of(), placement, new HostOverhead(0, 0));
            return String.join(", ", latency.missing());
        } catch (KernelDatabaseException e) {
            throw new ScenarioException(String.valueOf(e.getMessage()));
        }
    }

    private static String word(WeightFormat format) {
        return format.name().toLowerCase(Locale.ROOT).replace('_', '-');
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
