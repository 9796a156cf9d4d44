package understudy.app;

import com.github.freva.asciitable.ColumnData;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import understudy.app.console.ConsoleCommand;
import understudy.report.Tables;
import understudy.scenario.GpuFile;
import understudy.scenario.SpecFiles;

/** Lists the GPUs that {@code latency.gpu} can name. */
@Command(
        name = "gpus",
        mixinStandardHelpOptions = true,
        description = {
            "Lists the GPUs that latency.gpu can name.",
            "A file of the same form can be given by path. fitted: efficiencies come from measurements, but for what",
            "stands under assumed; assumed: from a generic set, 10 to 20 % off."
        },
        footer = {"", "Examples:", "  understudy gpus", "  understudy run conf/demo.conf --set latency.gpu=h100-sxm ..."
        })
final class GpusCommand extends ConsoleCommand {
    @Override
    public Integer call() {
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
        var out = console().out();
        out.println(Tables.text(gpus, columns));
        out.flush();
        return 0;
    }

    private static String shown(double value) {
        return value == Math.rint(value)
                ? String.format(Locale.ROOT, "%.0f", value)
                : String.format(Locale.ROOT, "%s", value);
    }
}
