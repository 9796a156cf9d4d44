package understudy.scenario;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.latency.GpuSpec;
import understudy.latency.GpuSpec.Efficiency;
import understudy.latency.GpuSpecBuilder;
import understudy.latency.KernelTable;
import understudy.latency.ProfileLatency;
import understudy.settings.Defaults;
import understudy.settings.Numbers;
import understudy.settings.Section;

/**
 * A file of {@code conf/gpus}.
 *
 * @param spec the figures
 * @param profile the same device in five numbers, if all are 0 there are none
 * @param status how far they can be trusted
 * @param assumed figures that are assumed although the rest is fitted
 * @param source source of the figures
 * @param kernelTables its name in NVIDIA AIConfigurator's database, empty if it is not there
 * @param launchMicrosPerKernel what vLLM's host takes to launch a kernel that is in no CUDA graph, 0 if it is not known
 */
public record GpuFile(
        GpuSpec spec,
        ProfileLatency profile,
        Status status,
        List<String> assumed,
        String source,
        String kernelTables,
        double launchMicrosPerKernel) {
    private static final double MICRO = 1e3;
    private static final double MAX = 1e9;
    private static final int BYTES_PER_KIB = 1024;
    private static final double BYTES_PER_MICRO_AND_GB_PER_SECOND = 1e3;

    /** Source of figures: measurements or assumptions. */
    public enum Status {
        FITTED,
        ASSUMED
    }

    /** Finds the GPU that {@code key} of a section names, by name or by path. */
    static GpuFile find(Section section, String key) {
        String name = section.text(key);
        if (SpecFiles.isPath(name)) {
            return read(SpecFiles.GPUS.read(Path.of(name)));
        }
        return SpecFiles.GPUS
                .find(name)
                .map(GpuFile::read)
                .orElseThrow(() -> section.unusable(key, SpecFiles.GPUS.allowed(name)));
    }

    public static GpuFile read(Section file) {
        var gemm = efficiency(file.section("gemm"));
        var fp8 = file.section("fp8-gemm");
        var fp4 = file.section("fp4-gemm");
        var attention = file.section("attention");
        double fp8KvBandwidth = attention.number("fp8-kv-bandwidth-efficiency", 0, MAX);
        double fp8KvOverhead = attention.nanos("fp8-kv-overhead") / MICRO;
        var allReduce = file.section("all-reduce");
        var spec = GpuSpecBuilder.builder()
                .name(file.text("name"))
                .memoryGib(file.number("memory-gib", 0, MAX))
                .bf16Tflops(file.number("bf16-tflops", 0, MAX))
                .fp8Tflops(file.number("fp8-tflops", 0, MAX))
                .fp32Tflops(file.number("fp32-tflops", 0, MAX))
                .fp4Tflops(file.number("fp4-tflops", 0, MAX))
                .bandwidthGbPerSecond(file.number("bandwidth-gb-per-s", 0, MAX))
                .gemm(gemm)
                .fp8Gemm(new Efficiency(
                        fp8.positive("compute-efficiency"), gemm.bandwidth(), fp8.nanos("overhead") / MICRO))
                .fp8Slowdown(slowdown(fp8))
                .fp4Gemm(new Efficiency(
                        fp4.positive("compute-efficiency"), gemm.bandwidth(), fp4.nanos("overhead") / MICRO))
                .attention(new GpuSpec.Attention(
                        efficiency(attention),
                        fp8KvBandwidth == 0 ? bandwidth(attention) : fp8KvBandwidth,
                        fp8KvOverhead == 0 ? overhead(attention) : fp8KvOverhead,
                        attention.positive("causal-factor"),
                        attention.number("mixed-per-group", 0, MAX),
                        attention.nanos("per-chunk-token") / MICRO,
                        attention.wholeNumber("multiprocessors", 0, (int) MAX),
                        attention.nanos("per-decoded-kv-head") / MICRO,
                        latent(attention)))
                .linearAttention(linearAttention(file.section("linear-attention")))
                .elementwise(new Efficiency(
                        1, bandwidth(file.section("elementwise")), overhead(file.section("elementwise"))))
                .allReduce(new GpuSpec.AllReduce(
                        overhead(allReduce), allReduce.positive("bus-gb-per-s"), measured(allReduce)))
                .experts(GpuExperts.read(file.section("experts"), gemm.bandwidth(), fp8Gain(file, gemm)))
                .build();
        return new GpuFile(
                spec,
                ProfileLatency.read(file.section("profile")),
                file.choice("status", Status.class),
                file.texts("assumed"),
                file.text("source"),
                file.text("kernel-tables"),
                file.nanos("launch-per-kernel") / MICRO);
    }

    /** Returns the five numbers that a scenario has by default. */
    public static ProfileLatency genericProfile() {
        return ProfileLatency.read(Defaults.SCENARIO.section("latency").section("profile"));
    }

    /** Returns how many times as fast products in FP8 are as those in BF16; 1 without FP8. */
    private static double fp8Gain(Section file, Efficiency gemm) {
        double fp8Tflops = file.number("fp8-tflops", 0, MAX);
        return fp8Tflops == 0
                ? 1
                : file.section("fp8-gemm").positive("compute-efficiency")
                        * fp8Tflops
                        / (gemm.compute() * file.number("bf16-tflops", 0, MAX));
    }

    private static Efficiency efficiency(Section section) {
        return new Efficiency(section.positive("compute-efficiency"), bandwidth(section), overhead(section));
    }

    private static GpuSpec.LinearAttention linearAttention(Section linear) {
        return new GpuSpec.LinearAttention(
                overhead(linear),
                linear.nanos("per-chunk-token") / MICRO,
                linear.positive("compute-efficiency"),
                bandwidth(linear));
    }

    private static GpuSpec.Latent latent(Section attention) {
        var latent = attention.section("latent");
        return new GpuSpec.Latent(
                orElse(latent, "compute-efficiency", attention.positive("compute-efficiency")),
                latent.wholeNumber("absorbed-chunk", 1, (int) MAX),
                latentDecodes(latent.section("decode"), attention),
                latentDecodes(latent.section("fp8-kv-decode"), attention));
    }

    private static GpuSpec.LatentDecodes latentDecodes(Section decodes, Section attention) {
        double overhead = overhead(decodes);
        double gbPerSecond = decodes.number("sequence-gb-per-s", 0, MAX);
        return new GpuSpec.LatentDecodes(
                orElse(decodes, "compute-efficiency", attention.positive("compute-efficiency")),
                orElse(decodes, "bandwidth-efficiency", bandwidth(attention)),
                overhead == 0 ? overhead(attention) : overhead,
                gbPerSecond == 0 ? Double.POSITIVE_INFINITY : gbPerSecond * BYTES_PER_MICRO_AND_GB_PER_SECOND);
    }

    /** Reads the factors by rows, which stand in two lists. */
    private static @Nullable KernelTable slowdown(Section fp8) {
        var rows = numbers(fp8, "rows");
        var factors = numbers(fp8, "slowdown");
        if (rows.length != factors.length) {
            throw fp8.unusable("slowdown", "but rows has another length");
        }
        var table = new KernelTable.Builder();
        for (int i = 0; i < rows.length; i++) {
            table.add(factors[i], (int) rows[i]);
        }
        return table.isEmpty() ? null : table.build();
    }

    /** Returns a share, or another one if it is 0. */
    private static double orElse(Section section, String key, double otherwise) {
        double share = section.number(key, 0, MAX);
        return share == 0 ? otherwise : share;
    }

    /** Reads one list of times for each number of GPUs, at the same sizes. */
    private static @Nullable KernelTable measured(Section allReduce) {
        double[] kib = numbers(allReduce, "kib");
        var table = new KernelTable.Builder();
        for (var entry : allReduce.sections("measured")) {
            double[] micros = numbers(entry, "us");
            if (micros.length != kib.length) {
                throw entry.unusable("us", "but kib has another length");
            }
            for (int i = 0; i < kib.length; i++) {
                table.add(micros[i], entry.wholeNumber("gpus", 2, (int) MAX), (int) (kib[i] * BYTES_PER_KIB));
            }
        }
        return table.isEmpty() ? null : table.build();
    }

    private static double[] numbers(Section section, String key) {
        double[] numbers =
                section.texts(key).stream().mapToDouble(Numbers::parse).toArray();
        for (double number : numbers) {
            if (!(number > 0)) {
                throw section.unusable(key, "must be a list of numbers above 0");
            }
        }
        return numbers;
    }

    private static double bandwidth(Section section) {
        return section.positive("bandwidth-efficiency");
    }

    private static double overhead(Section section) {
        return section.nanos("overhead") / MICRO;
    }
}
