package understudy.scenario;

import java.nio.file.Path;
import java.util.List;
import understudy.latency.GpuSpec;
import understudy.latency.GpuSpec.Efficiency;
import understudy.latency.ProfileLatency;

/**
 * A file of {@code conf/gpus}.
 *
 * @param spec the figures
 * @param profile the same device in five numbers, if all are 0 there are none
 * @param status how far they can be trusted
 * @param assumed what is assumed although the rest is fitted
 * @param source where they are from
 */
public record GpuFile(GpuSpec spec, ProfileLatency profile, Status status, List<String> assumed, String source) {
    private static final double MICRO = 1e3;
    private static final double MAX = 1e9;

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

    /** Returns whether there are the figures of a data sheet, which the formulas need. */
    public boolean hasDataSheet() {
        return spec.bf16Tflops() > 0 && spec.bandwidthGbPerSecond() > 0;
    }

    public static GpuFile read(Section file) {
        var gemm = efficiency(file.section("gemm"));
        var fp8 = file.section("fp8-gemm");
        var attention = file.section("attention");
        var allReduce = file.section("all-reduce");
        var experts = file.section("experts");
        var spec = new GpuSpec(
                file.text("name"),
                file.number("memory-gib", 0, MAX),
                file.number("bf16-tflops", 0, MAX),
                file.number("fp8-tflops", 0, MAX),
                file.number("bandwidth-gb-per-s", 0, MAX),
                gemm,
                new Efficiency(fp8.positive("compute-efficiency"), gemm.bandwidth(), fp8.nanos("overhead") / MICRO),
                new GpuSpec.Attention(
                        efficiency(attention),
                        attention.number("mixed-per-group", 0, MAX),
                        attention.nanos("per-chunk-token") / MICRO),
                new Efficiency(1, bandwidth(file.section("elementwise")), overhead(file.section("elementwise"))),
                new GpuSpec.AllReduce(overhead(allReduce), allReduce.positive("bus-gb-per-s")),
                new Efficiency(experts.positive("compute-efficiency"), gemm.bandwidth(), overhead(experts)));
        return new GpuFile(
                spec,
                profile(file.section("profile")),
                file.choice("status", Status.class),
                file.texts("assumed"),
                file.text("source"));
    }

    /** Reads the five numbers of {@link ProfileLatency}. */
    static ProfileLatency profile(Section profile) {
        return new ProfileLatency(
                profile.nanos("weights"),
                profile.nanos("per-token"),
                profile.nanos("per-kv-token"),
                profile.nanos("per-attention-pair"),
                profile.nanos("per-mixed-kv-token"));
    }

    /** Returns the five numbers that a scenario has by default. */
    public static ProfileLatency genericProfile() {
        return profile(
                new Section(ScenarioFile.REFERENCE, "").section("latency").section("profile"));
    }

    private static Efficiency efficiency(Section section) {
        return new Efficiency(section.positive("compute-efficiency"), bandwidth(section), overhead(section));
    }

    private static double bandwidth(Section section) {
        return section.positive("bandwidth-efficiency");
    }

    private static double overhead(Section section) {
        return section.nanos("overhead") / MICRO;
    }
}
