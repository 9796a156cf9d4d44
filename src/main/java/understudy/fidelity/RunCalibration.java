package understudy.fidelity;

import com.github.freva.asciitable.ColumnData;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import understudy.latency.BatchShape;
import understudy.latency.ProfileFit.Measurement;
import understudy.report.Tables;
import understudy.report.latency.LatencyStats;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

/** Fits a device in five numbers to a whole run, given when the client had each token. */
public final class RunCalibration {
    private static final double NANOS_PER_MILLI = 1e6;
    private static final int SIZES_PER_DOUBLING = 4;
    private static final double LEAST_KNOWN = 0.5;
    private static final String FEW_KNOWN = "warning: most steps are in doubt, as with several replicas, long queues,"
            + " preemptions or failed requests";

    private RunCalibration() {}

    /** Steps of a kind, and how well they are met. Percent, but for the time. */
    private record Kind(String name, int numSteps, double medianMillis, double medianError, double p90Error) {}

    /**
     * Reads a detailed result of a benchmark or of a run and fits.
     *
     * @param base figures that the fit does not give, or defaults if there is no data sheet
     */
    public static Calibration of(Path file, Section base, boolean hasDataSheet) {
        var answers = ResultFile.answers(file.toString());
        var recovered = RunSteps.of(answers);
        var steps = recovered.steps();
        if (steps.isEmpty()) {
            throw new ScenarioException(
                    file + ": no two bursts of tokens in a row have the same requests; it must be a run"
                            + " of one replica with a token in each chunk");
        }
        var fit = StepFit.of(typical(steps));
        var all = kind("all", steps, fit);
        String summary = String.format(
                Locale.ROOT,
                "%d of %d steps are known, median error %.1f %%, p90 %.1f %%",
                steps.size(),
                recovered.numBursts(),
                all.medianError,
                all.p90Error);
        var calibration =
                fit.calibration(table(steps, fit) + "\n" + summary, file + ": " + summary, base, hasDataSheet);
        return steps.size() < LEAST_KNOWN * recovered.numBursts() ? calibration.with(FEW_KNOWN) : calibration;
    }

    /** Returns the median step of all with about the same batch, so that the usual batch does not outweigh the others. */
    private static List<Measurement> typical(List<Measurement> steps) {
        Map<List<Integer>, List<Measurement>> bySize = steps.stream()
                .collect(Collectors.groupingBy(step -> sizes(step.batch()), LinkedHashMap::new, Collectors.toList()));
        return bySize.values().stream()
                .map(alike -> alike.stream()
                        .sorted(Comparator.comparingDouble(Measurement::nanos))
                        .toList()
                        .get(alike.size() / 2))
                .toList();
    }

    private static List<Integer> sizes(BatchShape batch) {
        return List.of(
                size(batch.numDecodes()),
                size(batch.decodeKvTokens()),
                size(batch.numPrefillTokens()),
                batch.numChunks());
    }

    private static int size(long number) {
        return (int) Math.round(SIZES_PER_DOUBLING * Math.log1p((double) number) / Math.log(2));
    }

    private static String table(List<Measurement> steps, StepFit fit) {
        Map<String, List<Measurement>> byKind = steps.stream()
                .collect(Collectors.groupingBy(RunCalibration::kindOf, TreeMap::new, Collectors.toList()));
        var kinds = new ArrayList<Kind>();
        byKind.forEach((name, alike) -> kinds.add(kind(name, alike, fit)));
        List<ColumnData<Kind>> columns = List.of(
                Tables.words("batch", Kind::name),
                Tables.counts("steps", Kind::numSteps),
                Tables.decimals("median ms", "%.3f", Kind::medianMillis),
                Tables.decimals("median error", "%.1f %%", Kind::medianError),
                Tables.decimals("p90", "%.1f %%", Kind::p90Error));
        return Tables.text(kinds, columns);
    }

    private static String kindOf(Measurement step) {
        int least = Integer.highestOneBit(step.batch().numDecodes());
        String decodes = String.format(Locale.ROOT, "%4d to %4d decodes", least, 2 * least - 1);
        return decodes + (step.batch().numChunks() > 0 ? " and prompts" : "");
    }

    private static Kind kind(String name, List<Measurement> steps, StepFit fit) {
        double[] errors = steps.stream()
                .mapToDouble(step -> Math.abs(fit.errorPercent(step)))
                .toArray();
        double[] nanos = steps.stream().mapToDouble(Measurement::nanos).toArray();
        return new Kind(
                name,
                steps.size(),
                LatencyStats.percentile(nanos, 50) / NANOS_PER_MILLI,
                LatencyStats.percentile(errors, 50),
                LatencyStats.percentile(errors, 90));
    }
}
