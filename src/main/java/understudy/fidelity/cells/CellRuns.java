package understudy.fidelity.cells;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import understudy.sweep.PointResult;
import understudy.sweep.PointThreads;

/** Runs of all cells of a table, each with each latency model. */
public final class CellRuns implements AutoCloseable {
    private static final Pattern ORIGIN = Pattern.compile("^--set [^ ]+: ");

    private final MeasuredCells measured;
    private final List<String> latencyModels;
    private final List<CompletableFuture<CellRun>> runs;
    private final PointThreads threads;

    /** Begins the runs; as many at a time as there are threads. */
    public CellRuns(MeasuredCells measured, CellScenario scenario, List<String> latencyModels, int numThreads) {
        this.measured = measured;
        this.latencyModels = latencyModels;
        threads = new PointThreads(numThreads, false);
        runs = measured.cells().stream()
                .flatMap(cell -> latencyModels.stream().map(model -> start(cell, scenario, model)))
                .toList();
    }

    private CompletableFuture<CellRun> start(MeasuredCell cell, CellScenario scenario, String latencyModel) {
        String name = cell.setup().name();
        return threads.submit(name, () -> scenario.of(cell.setup(), latencyModel))
                .thenApply(PointResult::figures)
                .handle((figures, failure) -> failure == null
                        ? CellRun.of(cell, latencyModel, figures)
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
        return runs;
    }

    /** Returns the comparison; all runs must be done. */
    public CellComparison comparison() {
        var rows = new ArrayList<CellRow>();
        int numModels = latencyModels.size();
        for (var cell : measured.cells()) {
            int first = rows.size() * numModels;
            var ofCell = runs.subList(first, first + numModels).stream()
                    .map(CompletableFuture::join)
                    .toList();
            rows.add(new CellRow(cell, ofCell));
        }
        return new CellComparison(latencyModels, rows, measured.leftOut());
    }

    @Override
    public void close() {
        threads.close();
    }
}
