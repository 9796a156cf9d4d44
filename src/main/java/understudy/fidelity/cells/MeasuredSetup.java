package understudy.fidelity.cells;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Setup of a measurement, in the words of its row: rows with the same one measured the same. An empty word, or a size of
 * 0, is up to the scenario.
 *
 * @param model name or path of the model
 * @param gpu each of the GPUs
 * @param version of the engine
 * @param weights format of the matrices
 * @param expertWeights format of the experts
 * @param kvCacheDtype format of keys and values
 * @param tensorParallelSize GPUs that share each attention head's layer
 * @param dataParallelSize engines that share the requests
 * @param moeTensorParallelSize GPUs that share each expert
 * @param expertParallelSize groups of GPUs that share all experts
 * @param inputTokens longest prompt
 * @param outputTokens longest answer
 * @param concurrency requests in flight at a time
 */
@RecordBuilder
record MeasuredSetup(
        String model,
        String gpu,
        String version,
        String weights,
        String expertWeights,
        String kvCacheDtype,
        int tensorParallelSize,
        int dataParallelSize,
        int moeTensorParallelSize,
        int expertParallelSize,
        int inputTokens,
        int outputTokens,
        int concurrency) {
    static final Comparator<MeasuredSetup> ORDER = Comparator.comparing(MeasuredSetup::shortModel)
            .thenComparing(MeasuredSetup::gpu)
            .thenComparing(MeasuredSetup::version)
            .thenComparing(MeasuredSetup::tensorParallelSize)
            .thenComparing(MeasuredSetup::dataParallelSize)
            .thenComparing(MeasuredSetup::inputTokens)
            .thenComparing(MeasuredSetup::outputTokens)
            .thenComparing(MeasuredSetup::concurrency);

    /** Returns the last part of the model's name. */
    String shortModel() {
        return model.substring(model.lastIndexOf('/') + 1);
    }

    /** Returns the formats of the weights in the row's words, those of experts apart if they differ. */
    String formats() {
        return expertWeights.isEmpty() || expertWeights.equals(weights) ? weights : weights + " / " + expertWeights;
    }

    /** Returns the longest prompt and answer, such as {@code 1024/8192}. */
    String lengths() {
        return inputTokens + "/" + outputTokens;
    }

    /** Returns how the GPUs share the work, such as {@code TP8} or {@code DP2 TP4 EP}. */
    String parallelism() {
        return (dataParallelSize > 1 ? "DP" + dataParallelSize + " " : "")
                + "TP" + tensorParallelSize
                + (expertParallelSize > 1 ? " EP" : "");
    }

    /** Returns all of it in short, for people. */
    String name() {
        String versionWord = version.isEmpty() ? "" : " " + version;
        return (shortModel() + " " + gpu + " " + parallelism() + versionWord + " " + lengths() + " x " + concurrency)
                .strip();
    }

    /** Returns what differs in nothing but the concurrency, each list by ascending concurrency. */
    static <T> Collection<List<T>> series(List<T> all, Function<T, MeasuredSetup> setup) {
        return all.stream()
                .sorted(Comparator.comparing(setup, Comparator.comparingInt(MeasuredSetup::concurrency)))
                .collect(Collectors.groupingBy(
                        each -> MeasuredSetupBuilder.builder(setup.apply(each))
                                .concurrency(0)
                                .build(),
                        LinkedHashMap::new,
                        Collectors.toList()))
                .values();
    }
}
