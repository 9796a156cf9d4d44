package understudy.fidelity.cells;

import java.util.List;

/**
 * Row of a comparison.
 *
 * @param kvCache format of its KV cache
 * @param isMeasuredShortOfKv whether the measured requests waited for memory
 * @param runs one for each latency model, in their order
 */
record CellRow(MeasuredCell cell, KvCacheFormat kvCache, boolean isMeasuredShortOfKv, List<CellRun> runs) {

    MeasuredSetup setup() {
        return cell.setup();
    }

    /** Returns whether it is in the figures. */
    boolean isCompared() {
        return hasRun() && !isShortOfKv();
    }

    boolean hasRun() {
        return runs.stream().anyMatch(CellRun::hasRun);
    }

    /** Returns whether it was run and tests the memory more than the times of steps. */
    boolean isShortOfKv() {
        return hasRun() && (isMeasuredShortOfKv || isEmulatedShortOfKv());
    }

    private boolean isEmulatedShortOfKv() {
        return runs.stream().anyMatch(CellRun::isShortOfKv);
    }

    /** Returns what says that it is short of KV memory; empty if it is not. */
    String shortOfKvBy() {
        if (isMeasuredShortOfKv) {
            return isEmulatedShortOfKv() ? "both" : "measurement";
        }
        return isEmulatedShortOfKv() ? "emulation" : "";
    }
}
