package understudy.app;

import com.github.freva.asciitable.ColumnData;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import understudy.app.console.ConsoleCommand;
import understudy.latency.tables.KernelDatabase;
import understudy.report.Tables;
import understudy.scenario.GpuFile;
import understudy.scenario.SpecFiles;
import understudy.settings.ScenarioException;

/** Lists the GPUs that {@code latency.gpu} can name. */
@Command(
        name = "gpus",
        mixinStandardHelpOptions = true,
        description = {
            "Lists the GPUs that latency.gpu can name.",
            "A file of the same form can be given by path. fitted: efficiencies come from measurements, but for what",
            "stands under assumed; assumed: from a generic set, 10 to 20 % off."
        },
        footer = {
            "",
            "Examples:",
            "  understudy gpus",
            "  understudy gpus --tables aiconfigurator",
            "  understudy run conf/demo.conf --set latency.gpu=h100-sxm ..."
        })
final class GpusCommand extends ConsoleCommand {
    @Option(
            names = "--tables",
            paramLabel = "DIR",
            description =
                    "Lists the tables of NVIDIA AIConfigurator's database in this directory instead: of which GPU,"
                            + " which versions of which engine, newest first.")
    private @Nullable Path tables;

    @Override
    public Integer call() {
        var out = console().out();
        out.println(tables == null ? gpus() : versions(tables));
        out.flush();
        return 0;
    }

    private static String gpus() {
        var gpus = SpecFiles.GPUS.all().stream().map(GpuFile::read).toList();
        List<ColumnData<GpuFile>> columns = List.of(
                Tables.words("GPU", g -> g.spec().name()),
                Tables.numbers("GiB", g -> shown(g.spec().memoryGib())),
                Tables.numbers("BF16 TFLOP/s", g -> shown(g.spec().bf16Tflops())),
                Tables.numbers(
                        "FP8",
                        g -> g.spec().fp8Tflops() == 0 ? "" : shown(g.spec().fp8Tflops())),
                Tables.numbers("GB/s", g -> shown(g.spec().bandwidthGbPerSecond())),
                Tables.numbers(
                        "all-reduce GB/s", g -> shown(g.spec().allReduce().busGbPerSecond())),
                Tables.words("status", g -> g.status().name().toLowerCase(Locale.ROOT)),
                Tables.words("assumed", g -> String.join(", ", g.assumed())),
                Tables.words("source", GpuFile::source));
        return Tables.text(gpus, columns);
    }

    /** One table of a GPU. */
    private record Row(String gpu, String table, List<String> ofVllm, List<String> ofSglang) {}

    private static String versions(Path directory) {
        var database = new KernelDatabase(directory);
        if (database.gpus().isEmpty()) {
            throw new ScenarioException(directory + ": has no GPU.yaml with a folder data/GPU");
        }
        var rows = new ArrayList<Row>();
        for (String gpu : database.gpus()) {
            var ofVllm = database.versions(gpu, "vllm");
            var ofSglang = database.versions(gpu, "sglang");
            Stream.concat(ofVllm.keySet().stream(), ofSglang.keySet().stream())
                    .distinct()
                    .sorted()
                    .forEach(table -> rows.add(new Row(
                            gpu,
                            table,
                            ofVllm.getOrDefault(table, List.of()),
                            ofSglang.getOrDefault(table, List.of()))));
        }
        return Tables.text(
                rows,
                List.of(
                        Tables.words("GPU", row -> nameOf(row.gpu)),
                        Tables.words("there", Row::gpu),
                        Tables.words("table", Row::table),
                        Tables.words("vLLM", row -> String.join(", ", row.ofVllm)),
                        Tables.words("SGLang", row -> String.join(", ", row.ofSglang))));
    }

    /** Returns the name for {@code latency.gpu}, empty if there is none. */
    private static String nameOf(String kernelTables) {
        return SpecFiles.GPUS.all().stream()
                .map(GpuFile::read)
                .filter(gpu -> gpu.kernelTables().equals(kernelTables))
                .map(gpu -> gpu.spec().name())
                .findFirst()
                .orElse("");
    }

    private static String shown(double value) {
        return value == Math.rint(value)
                ? String.format(Locale.ROOT, "%.0f", value)
                : String.format(Locale.ROOT, "%s", value);
    }
}
