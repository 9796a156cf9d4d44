package understudy.scenario;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import understudy.latency.GpuSpec.ExpertKernels;
import understudy.latency.GpuSpec.Experts;
import understudy.latency.WeightFormat;
import understudy.settings.Section;

/**
 * Kernels of experts in a GPU's file, by format. A number that is not there is that of another format; with expert
 * parallelism it is the one without, or else that of the other format with it.
 */
final class GpuExperts {
    private static final double MICRO = 1e3;
    private static final double MAX = 1e9;
    private static final double BYTES_PER_MB = 1e6;

    /** How many times as fast TF32 is as BF16. */
    private static final double FP32_GAIN = 0.5;

    private final Section experts;
    private final Map<WeightFormat, ExpertKernels> kernels = new EnumMap<>(WeightFormat.class);
    private final Map<WeightFormat, ExpertKernels> expertParallelKernels = new EnumMap<>(WeightFormat.class);

    private GpuExperts(Section experts) {
        this.experts = experts;
    }

    /**
     * Reads the kernels of all formats.
     *
     * @param experts the section of experts
     * @param gemmBandwidth share of the bandwidth of other products, which experts have if they have none of their own
     * @param fp8Gain how many times as fast other products in FP8 are as those in BF16; likewise
     */
    static Experts read(Section experts, double gemmBandwidth, double fp8Gain) {
        var file = new GpuExperts(experts);
        var unset = new ExpertKernels(1, gemmBandwidth, 1, 0, 0, 0);
        file.add(WeightFormat.BF16, unset, unset);
        file.addLike(WeightFormat.BF16, FP32_GAIN, WeightFormat.FP32);
        file.addLike(WeightFormat.BF16, fp8Gain, WeightFormat.FP8);
        file.addLike(WeightFormat.FP8, 1, WeightFormat.FP8_BLOCK);
        file.addLike(WeightFormat.BF16, 1, WeightFormat.INT4);
        file.addLike(WeightFormat.INT4, 1, WeightFormat.MXFP4_MARLIN);
        file.addLike(WeightFormat.INT4, 1, WeightFormat.MXFP4);
        file.addLike(WeightFormat.INT4, 1, WeightFormat.NVFP4);
        return new Experts(
                file.kernels,
                file.expertParallelKernels,
                experts.number("half-bandwidth-mb", 0, MAX) * BYTES_PER_MB,
                experts.number("skew", 0, MAX));
    }

    /** Adds a format whose kernels are by default those of another one, but so many times as fast in arithmetic. */
    private void addLike(WeightFormat other, double gain, WeightFormat format) {
        add(
                format,
                known(kernels, other).faster(gain),
                known(expertParallelKernels, other).faster(gain));
    }

    private static ExpertKernels known(Map<WeightFormat, ExpertKernels> kernels, WeightFormat format) {
        return Objects.requireNonNull(kernels.get(format));
    }

    private void add(WeightFormat format, ExpertKernels other, ExpertKernels otherExpertParallel) {
        var section = experts.section(format.name().toLowerCase(Locale.ROOT).replace('_', '-'));
        kernels.put(format, read(section, other));
        expertParallelKernels.put(format, read(section.section("expert-parallel"), read(section, otherExpertParallel)));
    }

    private static ExpertKernels read(Section section, ExpertKernels other) {
        return new ExpertKernels(
                positive(section, "compute-efficiency", other.compute()),
                positive(section, "bandwidth-efficiency", other.bandwidth()),
                positive(section, "routed-efficiency", other.routedBandwidth()),
                section.has("idle-rows") ? section.number("idle-rows", 0, MAX) : other.idleRows(),
                micros(section, "overhead", other.overheadMicros()),
                micros(section, "per-expert", other.microsPerExpert()));
    }

    private static double positive(Section section, String key, double otherwise) {
        return section.has(key) ? section.positive(key) : otherwise;
    }

    private static double micros(Section section, String key, double otherwise) {
        return section.has(key) ? section.nanos(key) / MICRO : otherwise;
    }
}
