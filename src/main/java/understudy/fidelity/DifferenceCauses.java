package understudy.fidelity;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.github.freva.asciitable.ColumnData;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import understudy.report.Figures;
import understudy.report.Tables;
import understudy.scenario.Scenario;
import understudy.scenario.SpecFiles;
import understudy.settings.ScenarioException;
import understudy.settings.Section;
import understudy.sweep.PointResult;
import understudy.sweep.PointThreads;

/**
 * Causes of the difference between a real server and its twin. The twin is run again with the load, the capacity and the step
 * times of the real server, one more each time. What a swap takes off the difference of a figure is its part; what is left
 * after all of them is the scheduler's, and that of anything else.
 */
public final class DifferenceCauses {
    private static final String LOAD = "load";
    private static final String CAPACITY = "capacity";
    private static final String STEP_TIME = "step time";
    private static final String REST = "scheduler";
    private static final String NUM_GPU_BLOCKS = "kv-cache.num-gpu-blocks";
    private static final double PERCENT = 100;

    /** Percent of the real figure below which a difference is none. */
    private static final double NOTABLE_PERCENT = 1;

    private final List<String> causes;
    private final List<Row> rows;
    private final List<String> notes;

    /**
     * Thing of the real server that the twin takes over.
     *
     * @param settings of the twin, beside those of the swaps before
     */
    private record Swap(String cause, Map<String, String> settings) {}

    /**
     * Figure with the parts of its difference.
     *
     * @param parts in percent of the real figure, in the order of the causes; the rest comes last
     */
    private record Row(String name, double real, double emulated, List<Double> parts) {
        double differencePercent() {
            return parts.stream().mapToDouble(Double::doubleValue).sum();
        }
    }

    private DifferenceCauses(List<String> causes, List<Row> rows, List<String> notes) {
        this.causes = causes;
        this.rows = rows;
        this.notes = notes;
    }

    /**
     * Runs the twin with all swaps.
     *
     * @param real result of the real server, with details
     * @param twin returns the twin's scenario with further settings
     * @param kvTokens tokens of the real server's KV cache, if known
     * @throws ScenarioException if the result has no details, or a run cannot be
     */
    public static DifferenceCauses of(String real, Function<Map<String, String>, Section> twin, OptionalLong kvTokens) {
        var notes = new ArrayList<String>();
        var measured = ResultFile.read(real);
        if (measured.requests().isEmpty()) {
            throw new ScenarioException(real + ": has no requests to run again; save it with --save-detailed");
        }
        var swaps = swaps(real, twin, kvTokens, notes);
        var runs = run(twin, swaps);
        if (runs.get(0).findPath("prefix_cache_hits").asLong() > 0) {
            notes.add("Prompts of the real load share nothing, as its file does not say what they share.");
        }
        var causes = new ArrayList<>(swaps.stream().map(Swap::cause).toList());
        causes.add(REST);
        var rows = new ArrayList<Row>();
        measured.metrics().forEach((name, value) -> {
            if (value != 0 && runs.stream().allMatch(run -> run.path(name).isNumber())) {
                rows.add(row(name, value, runs));
            }
        });
        return new DifferenceCauses(causes, rows, notes);
    }

    private static List<Swap> swaps(
            String real, Function<Map<String, String>, Section> twin, OptionalLong kvTokens, List<String> notes) {
        var kvCache = Scenario.read(twin.apply(Map.of())).engine().kvCache();
        var swaps = new ArrayList<Swap>();
        swaps.add(new Swap(LOAD, Map.of("workload.kind", "vllm-bench", "workload.trace", real)));
        if (kvTokens.isPresent()) {
            long numBlocks = kvTokens.getAsLong() / kvCache.blockSize();
            swaps.add(new Swap(CAPACITY, Map.of(NUM_GPU_BLOCKS, String.valueOf(numBlocks))));
        } else {
            notes.add("The capacity is the twin's; --kv-tokens takes that of the real server's log.");
        }
        try {
            var calibration = RunCalibration.of(Path.of(real), SpecFiles.GPUS.blank("real"), false);
            notes.addAll(calibration.warnings());
            var settings = new LinkedHashMap<String, String>();
            settings.put("latency.model", "profile");
            settings.put("latency.gpu", deviceFile(calibration));
            if (kvTokens.isEmpty()) {
                settings.put(NUM_GPU_BLOCKS, String.valueOf(kvCache.numGpuBlocks()));
            }
            swaps.add(new Swap(STEP_TIME, settings));
        } catch (ScenarioException e) {
            notes.add("Step times are the twin's: " + e.getMessage());
        }
        return swaps;
    }

    private static String deviceFile(Calibration calibration) {
        try {
            var file = Files.createTempFile("real", ".conf");
            file.toFile().deleteOnExit();
            return Files.writeString(
                            file,
                            calibration.device().with("aliases", List.of()).render())
                    .toString();
        } catch (IOException e) {
            throw new ScenarioException("the fitted device cannot be written: " + e.getMessage());
        }
    }

    /** Returns the figures of the twin as it is, and after each swap. */
    private static List<ObjectNode> run(Function<Map<String, String>, Section> twin, List<Swap> swaps) {
        try (var threads = new PointThreads(Runtime.getRuntime().availableProcessors(), false)) {
            var settings = new LinkedHashMap<String, String>();
            var runs = new ArrayList<>(List.of(threads.submit("the twin", () -> twin.apply(Map.of()))));
            for (var swap : swaps) {
                settings.putAll(swap.settings);
                var all = Map.copyOf(settings);
                runs.add(threads.submit("with the real " + swap.cause, () -> twin.apply(all)));
            }
            return runs.stream()
                    .map(run -> run.join())
                    .map(PointResult::figures)
                    .toList();
        } catch (CompletionException e) {
            throw e.getCause() instanceof ScenarioException cause ? cause : e;
        }
    }

    private static Row row(String name, double real, List<ObjectNode> runs) {
        var parts = new ArrayList<Double>();
        double before = runs.get(0).path(name).asDouble();
        for (var run : runs.subList(1, runs.size())) {
            double after = run.path(name).asDouble();
            parts.add((before - after) / real * PERCENT);
            before = after;
        }
        parts.add((before - real) / real * PERCENT);
        return new Row(name, real, runs.get(0).path(name).asDouble(), parts);
    }

    /** Returns a table for people. */
    public String text() {
        var columns = new ArrayList<ColumnData<Row>>(List.of(
                Tables.words("", Row::name),
                Tables.decimals("Real", "%.2f", Row::real),
                Tables.decimals("Twin", "%.2f", Row::emulated),
                Tables.decimals("Difference", "%+.1f %%", Row::differencePercent)));
        for (int i = 0; i < causes.size(); i++) {
            int cause = i;
            columns.add(Tables.decimals(
                    causes.get(i), "%+.1f %%", row -> row.parts().get(cause)));
        }
        columns.add(Tables.words("mostly", this::mostly));
        return "The twin run again, with one thing after another as the real server had it:\n"
                + Tables.text(rows, columns) + "\n" + String.join("\n", notes) + (notes.isEmpty() ? "" : "\n");
    }

    /** Returns the cause with the largest part, if there is a part to speak of. */
    private String mostly(Row row) {
        int largest = 0;
        for (int i = 1; i < causes.size(); i++) {
            if (Math.abs(row.parts.get(i)) > Math.abs(row.parts.get(largest))) {
                largest = i;
            }
        }
        return Math.abs(row.parts.get(largest)) < NOTABLE_PERCENT ? "" : causes.get(largest);
    }

    /** Returns the same as figures. */
    Figures figures() {
        return new Figures()
                .add("metrics", rows.stream().map(this::figures).toList())
                .add("notes", notes);
    }

    private Figures figures(Row row) {
        var parts = new Figures();
        for (int i = 0; i < causes.size(); i++) {
            parts.add(causes.get(i).toLowerCase(Locale.ROOT).replace(' ', '_'), row.parts.get(i));
        }
        return new Figures()
                .add("name", row.name)
                .add("real", row.real)
                .add("twin", row.emulated)
                .add("difference_percent", row.differencePercent())
                .add("parts_percent", parts)
                .add("mostly", mostly(row));
    }
}
