package understudy.app;

import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
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
final class GpusCommand implements Callable<Integer> {
    @Spec
    private CommandSpec command;

    @Mixin
    @SuppressWarnings("unused") // its option acts when it is parsed
    private LogLevel logLevel;

    @Override
    public Integer call() {
        var gpus = SpecFiles.GPUS.all().stream().map(GpuFile::read).toList();
        var columns = Arrays.asList(
                Tables.words("GPU").<GpuFile>with(g -> g.spec().name()),
                Tables.number("GiB").<GpuFile>with(g -> shown(g.spec().memoryGib())),
                Tables.number("BF16 TFLOP/s").<GpuFile>with(g -> shown(g.spec().bf16Tflops())),
                Tables.number("FP8")
                        .<GpuFile>with(g ->
                                g.spec().fp8Tflops() == 0 ? "" : shown(g.spec().fp8Tflops())),
                Tables.number("GB/s").<GpuFile>with(g -> shown(g.spec().bandwidthGbPerSecond())),
                Tables.number("all-reduce GB/s")
                        .<GpuFile>with(g -> shown(g.spec().allReduce().busGbPerSecond())),
                Tables.words("status").<GpuFile>with(g -> g.status().name().toLowerCase(Locale.ROOT)),
                Tables.words("assumed").<GpuFile>with(g -> String.join(", ", g.assumed())),
                Tables.words("source").<GpuFile>with(GpuFile::source));
        var out = command.commandLine().getOut();
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
