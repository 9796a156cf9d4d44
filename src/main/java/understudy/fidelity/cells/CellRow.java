package understudy.fidelity.cells;

import java.util.List;

/**
 * Row of a comparison.
 *
 * @param runs one for each latency model, in their order
 */
record CellRow(MeasuredCell cell, List<CellRun> runs) {

    MeasuredSetup setup() {
        return cell.setup();
    }

    /** Returns whether it is in the means. */
    boolean isCompared() {
        return hasRun() && !isShortOfKv();
    }

    boolean hasRun() {
        return runs.stream().anyMatch(CellRun::hasRun);
    }

    /** Returns whether it tests the memory more than the times of steps. */
    boolean isShortOfKv() {
        return runs.stream().anyMatch(CellRun::isShortOfKv);
    }
}
