package understudy.fidelity.cells;

import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;
import understudy.report.Figures;
import understudy.report.latency.LatencyStats;

/**
 * Errors of a latency model over some cells.
 *
 * @param numCells that it has run
 * @param tpot errors of the time per output token
 * @param ttft errors of the time to first token
 */
record CellErrors(int numCells, Spread tpot, Spread ttft) {

    /**
     * Errors of a metric, in percent of the measured values; NaN if there are none.
     *
     * @param median of the absolute errors
     * @param mean of the absolute errors
     * @param p90 90th percentile of the absolute errors
     * @param bias mean of the signed errors; above 0 if emulated times are too long
     */
    record Spread(double median, double mean, double p90, double bias) {
        private static final Spread NONE = new Spread(Double.NaN, Double.NaN, Double.NaN, Double.NaN);

        static Spread of(double[] errors) {
            if (errors.length == 0) {
                return NONE;
            }
            double[] absolute = Arrays.stream(errors).map(Math::abs).toArray();
            return new Spread(
                    LatencyStats.percentile(absolute, 50),
                    Arrays.stream(absolute).average().orElseThrow(),
                    LatencyStats.percentile(absolute, 90),
                    Arrays.stream(errors).average().orElseThrow());
        }

        private void addTo(Figures figures, String metric) {
            figures.add("median_absolute_" + metric + "_error_percent", median)
                    .add("mean_absolute_" + metric + "_error_percent", mean)
                    .add("p90_absolute_" + metric + "_error_percent", p90)
                    .add("mean_" + metric + "_error_percent", bias);
        }
    }

    static CellErrors of(List<CellRun> runs) {
        var done = runs.stream().filter(CellRun::hasRun).toList();
        return new CellErrors(
                done.size(), spread(done, CellRun::tpotErrorPercent), spread(done, CellRun::ttftErrorPercent));
    }

    /** Adds the errors to figures of a latency model, and returns these. */
    Figures addTo(Figures figures) {
        figures.add("cells", numCells);
        tpot.addTo(figures, "tpot");
        ttft.addTo(figures, "ttft");
        return figures;
    }

    private static Spread spread(List<CellRun> runs, ToDoubleFunction<CellRun> percent) {
        return Spread.of(runs.stream().mapToDouble(percent).toArray());
    }
}
