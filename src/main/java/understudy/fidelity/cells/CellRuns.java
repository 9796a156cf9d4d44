package understudy.fidelity.cells;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;
import understudy.sweep.PointResult;
import understudy.sweep.PointThreads;

/** Runs of all cells of a table, each with each latency model. */
public final class CellRuns implements AutoCloseable {
    private static final Pattern ORIGIN = Pattern.compile("^--set [^ ]+: ");

    /** A cell takes about as long as it has requests and tokens of answers. */
    private static final Comparator<MeasuredCell> LONGEST_FIRST = Comparator.comparingLong((MeasuredCell cell) ->
                    (long) cell.setup().concurrency() * cell.setup().outputTokens())
            .reversed();

    private final MeasuredCells measured;
    private final CellScenario scenario;
    private final List<String> latencyModels;
    private final Map<MeasuredCell, List<CompletableFuture<CellRun>>> runs = new LinkedHashMap<>();
    private final PointThreads threads;

    /** Begins the runs, the longest ones first; as many at a time as there are threads. */
    public CellRuns(MeasuredCells measured, CellScenario scenario, List<String> latencyModels, int numThreads) {
        this.measured = measured;
        this.scenario = scenario;
        this.latencyModels = latencyModels;
        threads = new PointThreads(numThreads, false);
        measured.cells().stream()
                .sorted(LONGEST_FIRST)
                .forEach(cell -> runs.put(
                        cell,
                        latencyModels.stream().map(model -> start(cell, model)).toList()));
    }

    private CompletableFuture<CellRun> start(MeasuredCell cell, String latencyModel) {
        String name = cell.setup().name();
        var sources = new CopyOnWriteArrayList<String>();
        return threads.submit(
                        name,
                        () -> scenario.of(cell.setup(), latencyModel),
                        settled -> sources.addAll(settled.latencySources()))
                .thenApply(PointResult::figures)
                .handle((figures, failure) -> failure == null
                        ? CellRun.of(cell, latencyModel, List.copyOf(sources), figures)
                        : CellRun.without(cell, latencyModel, problem(name, failure)));
    }

    /** The message of a run begins with its name, and with where a setting is from, which is the row. */
    private static String problem(String name, Throwable failure) {
        var cause = Objects.requireNonNullElse(failure.getCause(), failure);
        String message = String.valueOf(cause.getMessage()).lines().findFirst().orElse("");
        String withoutName = message.startsWith(name + ": ") ? message.substring(name.length() + 2) : message;
        return ORIGIN.matcher(withoutName).replaceFirst("");
    }

    /** Returns the runs to wait for. */
    public List<? extends CompletableFuture<?>> futures() {
        return runs.values().stream().flatMap(List::stream).toList();
    }

    /** Returns the comparison; all runs must be done. */
    public CellComparison comparison() {
        var waiting = MeasuredWaiting.of(measured.cells());
        var rows = measured.cells().stream()
                .map(cell -> new CellRow(
                        cell,
                        scenario.kvCache(cell.setup()),
                        waiting.contains(cell.setup()),
                        runs.getOrDefault(cell, List.of()).stream()
                                .map(CompletableFuture::join)
                                .toList()))
                .toList();
        return new CellComparison(latencyModels, rows, measured);
    }

    @Override
    public void close() {
        threads.close();
    }
}
