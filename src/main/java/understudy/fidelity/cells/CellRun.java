package understudy.fidelity.cells;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/**
 * Emulation of a cell.
 *
 * @param latencyModel that told how long steps take
 * @param ttftMillis mean time to first token, or NaN
 * @param tpotMillis mean time per output token after the first, or NaN
 * @param isShortOfKv whether requests lost their KV blocks to others
 * @param sources of the times of its steps, such as the version of a kernel's table
 * @param problem why there are no times; empty if there are
 */
record CellRun(
        MeasuredCell cell,
        String latencyModel,
        double ttftMillis,
        double tpotMillis,
        boolean isShortOfKv,
        List<String> sources,
        String problem) {

    static CellRun of(MeasuredCell cell, String latencyModel, List<String> sources, ObjectNode figures) {
        long numMissing =
                figures.path("rejected").asLong() + figures.path("failed").asLong();
        return numMissing > 0
                ? without(cell, latencyModel, numMissing + " requests were not answered")
                : new CellRun(
                        cell,
                        latencyModel,
                        figures.path("mean_ttft_ms").asDouble(),
                        figures.path("mean_tpot_ms").asDouble(),
                        figures.path("num_preemptions").asLong() > 0,
                        sources,
                        "");
    }

    static CellRun without(MeasuredCell cell, String latencyModel, String problem) {
        return new CellRun(cell, latencyModel, Double.NaN, Double.NaN, false, List.of(), problem);
    }

    boolean hasRun() {
        return problem.isEmpty();
    }

    double ttftErrorPercent() {
        return (ttftMillis / cell.ttftMillis() - 1) * 100;
    }

    double tpotErrorPercent() {
        return (tpotMillis / cell.tpotMillis() - 1) * 100;
    }
}
