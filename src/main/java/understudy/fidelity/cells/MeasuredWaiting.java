package understudy.fidelity.cells;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Cells whose requests waited for KV memory, by what was measured: of the cells of a server with the same lengths, those with
 * a time to first token that grew faster than the concurrency.
 */
final class MeasuredWaiting {
    /** Requests that wait on average; fewer are noise. */
    static final double MIN_WAITING = 0.5;

    private MeasuredWaiting() {}

    /** Returns the setups of such cells. */
    static Set<MeasuredSetup> of(List<MeasuredCell> cells) {
        var waiting = new HashSet<MeasuredSetup>();
        for (var series : MeasuredSetup.series(cells, MeasuredCell::setup)) {
            addTo(waiting, series);
        }
        return waiting;
    }

    /** Each cell is compared with the nearest one below that does not wait itself. */
    private static void addTo(Set<MeasuredSetup> waiting, List<MeasuredCell> ascending) {
        var fewer = new ArrayList<MeasuredCell>();
        for (var cell : ascending) {
            if (!fewer.isEmpty() && cell.numWaiting(fewer.get(fewer.size() - 1)) >= MIN_WAITING) {
                waiting.add(cell.setup());
            } else {
                fewer.add(cell);
            }
        }
    }
}
