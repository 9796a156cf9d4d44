package understudy.app;

import com.github.freva.asciitable.AsciiTable;
import com.github.freva.asciitable.Column;
import com.github.freva.asciitable.HorizontalAlign;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Lists the GPUs that {@code latency.gpu} can name. */
@Command(
        name = "gpus",
        mixinStandardHelpOptions = true,
        description = {
            "Lists the GPUs that latency.gpu can name. A file of the same form can be given by path. fitted: efficiencies come",
            "from measurements, but for what stands under assumed; assumed: from a generic set, 10 to 20 % off."
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
                new Column().header("GPU").<GpuFile>with(g -> g.spec().name()),
                number("GiB").<GpuFile>with(g -> shown(g.spec().memoryGib())),
                number("BF16 TFLOP/s").<GpuFile>with(g -> shown(g.spec().bf16Tflops())),
                number("FP8")
                        .<GpuFile>with(g ->
                                g.spec().fp8Tflops() == 0 ? "" : shown(g.spec().fp8Tflops())),
                number("GB/s").<GpuFile>with(g -> shown(g.spec().bandwidthGbPerSecond())),
                number("all-reduce GB/s")
                        .<GpuFile>with(g -> shown(g.spec().allReduce().busGbPerSecond())),
                new Column()
                        .header("status")
                        .<GpuFile>with(g -> g.status().name().toLowerCase(Locale.ROOT)),
                new Column().header("assumed").<GpuFile>with(g -> String.join(", ", g.assumed())),
                new Column().header("source").<GpuFile>with(GpuFile::source));
        var out = command.commandLine().getOut();
        out.println(AsciiTable.getTable(gpus, columns));
        out.flush();
        return 0;
    }

    private static Column number(String header) {
        return new Column().header(header).headerAlign(HorizontalAlign.RIGHT).dataAlign(HorizontalAlign.RIGHT);
    }

    private static String shown(double value) {
        return value == Math.rint(value)
                ? String.format(Locale.ROOT, "%.0f", value)
                : String.format(Locale.ROOT, "%s", value);
    }
}
