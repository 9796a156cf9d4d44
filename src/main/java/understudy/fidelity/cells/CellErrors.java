package understudy.fidelity.cells;

import java.util.List;
import java.util.function.ToDoubleFunction;
import understudy.report.Figures;

/**
 * Errors of a latency model over some cells, in percent of the measured values.
 *
 * @param numCells that it has run
 * @param tpotMape mean absolute error of the time per output token
 * @param tpotBias mean error of it; above 0 if it is too long
 * @param ttftMape mean absolute error of the time to first token
 * @param ttftBias mean error of it
 */
record CellErrors(int numCells, double tpotMape, double tpotBias, double ttftMape, double ttftBias) {

    static CellErrors of(List<CellRun> runs) {
        var done = runs.stream().filter(CellRun::hasRun).toList();
        return new CellErrors(
                done.size(),
                mean(done, run -> Math.abs(run.tpotErrorPercent())),
                mean(done, CellRun::tpotErrorPercent),
                mean(done, run -> Math.abs(run.ttftErrorPercent())),
                mean(done, CellRun::ttftErrorPercent));
    }

    /** Adds the errors to figures of a latency model, and returns these. */
    Figures addTo(Figures figures) {
        return figures.add("cells", numCells)
                .add("mean_absolute_tpot_error_percent", tpotMape)
                .add("mean_tpot_error_percent", tpotBias)
                .add("mean_absolute_ttft_error_percent", ttftMape)
                .add("mean_ttft_error_percent", ttftBias);
    }

    private static double mean(List<CellRun> runs, ToDoubleFunction<CellRun> percent) {
        return runs.stream().mapToDouble(percent).average().orElse(Double.NaN);
    }
}
