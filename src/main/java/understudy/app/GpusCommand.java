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
                words("GPU").<GpuFile>with(g -> g.spec().name()),
                number("GiB").<GpuFile>with(g -> shown(g.spec().memoryGib())),
                number("BF16 TFLOP/s").<GpuFile>with(g -> shown(g.spec().bf16Tflops())),
                number("FP8")
                        .<GpuFile>with(g ->
                                g.spec().fp8Tflops() == 0 ? "" : shown(g.spec().fp8Tflops())),
                number("GB/s").<GpuFile>with(g -> shown(g.spec().bandwidthGbPerSecond())),
                number("all-reduce GB/s")
                        .<GpuFile>with(g -> shown(g.spec().allReduce().busGbPerSecond())),
                words("status").<GpuFile>with(g -> g.status().name().toLowerCase(Locale.ROOT)),
                words("assumed").<GpuFile>with(g -> String.join(", ", g.assumed())),
                words("source").<GpuFile>with(GpuFile::source));
        var out = command.commandLine().getOut();
        out.println(AsciiTable.builder()
                .border(AsciiTable.BASIC_ASCII_NO_DATA_SEPARATORS)
                .data(gpus, columns)
                .asString());
        out.flush();
        return 0;
    }

    private static Column words(String header) {
        return new Column().header(header).headerAlign(HorizontalAlign.LEFT).dataAlign(HorizontalAlign.LEFT);
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
