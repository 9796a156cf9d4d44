package understudy.latency;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import understudy.latency.GpuSpec.Efficiency;

/**
 * Fits three figures of a GPU's matrix products, the shares of peak rate and bandwidth and the fixed time of a kernel,
 * to measured times of one transformer layer without attention.
 */
public final class LayerFit {
    private static final double START_COMPUTE = 0.7;
    private static final double START_BANDWIDTH = 0.8;
    private static final double START_OVERHEAD_MICROS = 3.5;

    private final GpuSpec gpu;
    private final List<Measurement> measurements;

    /**
     * One measured layer.
     *
     * @param layer a model with a single layer
     * @param tensorParallelSize GPUs that share it
     * @param numTokens tokens of the step
     * @param micros how long the layer took, in microseconds above 0
     */
    public record Measurement(LlmSpec layer, int tensorParallelSize, int numTokens, double micros) {}

    /** Takes the data sheet, and the element-wise kernels, of {@code gpu}. */
    public LayerFit(GpuSpec gpu, List<Measurement> measurements) {
        this.gpu = gpu;
        this.measurements = List.copyOf(measurements);
    }

    /** Returns the GPU with fitted matrix products. */
    public GpuSpec fit() {
        return fit(measurements);
    }

    /**
     * Returns what each measurement would take by figures that were fitted to all other models alone, in microseconds.
     */
    public double[] predictLeavingOneModelOut() {
        Map<String, Layers> withoutModel = new LinkedHashMap<>();
        return measurements.stream()
                .mapToDouble(m -> withoutModel
                        .computeIfAbsent(m.layer.name(), name -> new Layers(fit(allBut(name))))
                        .micros(m))
                .toArray();
    }

    /** Returns the time of each measurement by a roofline of the data sheet alone, in microseconds. */
    public double[] predictByDataSheet() {
        var layers = new Layers(gpu.withGemm(new Efficiency(1, 1, 0)));
        return measurements.stream().mapToDouble(layers::hardRooflineMicros).toArray();
    }

    private List<Measurement> allBut(String model) {
        return measurements.stream()
                .filter(measurement -> !measurement.layer.name().equals(model))
                .toList();
    }

    private GpuSpec fit(List<Measurement> some) {
        double[] start = {START_COMPUTE, START_BANDWIDTH, START_OVERHEAD_MICROS};
        return withGemm(PositiveFit.fit(start, parameters -> loss(withGemm(parameters), some)));
    }

    private static double loss(GpuSpec candidate, List<Measurement> some) {
        var layers = new Layers(candidate);
        double sum = 0;
        for (var measurement : some) {
            sum += PositiveFit.squaredLog(layers.micros(measurement), measurement.micros);
        }
        return sum / some.size();
    }

    private GpuSpec withGemm(double[] parameters) {
        return gpu.withGemm(new Efficiency(parameters[0], parameters[1], parameters[2]));
    }

    /** Layer times of different models on one GPU. */
    private static final class Layers {
        private record Key(LlmSpec layer, int tensorParallelSize) {}

        private final GpuSpec gpu;
        private final Map<Key, LayerTime> times = new LinkedHashMap<>();

        Layers(GpuSpec gpu) {
            this.gpu = gpu;
        }

        double micros(Measurement measurement) {
            return time(measurement).micros(measurement.numTokens, measurement.numTokens);
        }

        double hardRooflineMicros(Measurement measurement) {
            return time(measurement).hardRooflineMicros(measurement.numTokens);
        }

        private LayerTime time(Measurement measurement) {
            var key = new Key(measurement.layer, measurement.tensorParallelSize);
            return times.computeIfAbsent(
                    key, k -> new LayerTime(k.layer, gpu, Parallelism.ofTensors(k.tensorParallelSize)));
        }
    }
}
