package understudy.fidelity.cells;

import java.util.List;
import java.util.stream.Stream;

/**
 * Cell of a table: mean times of a real server at a fixed concurrency.
 *
 * @param setup the server and load that were measured
 * @param lines of the file that have it
 * @param ttftMillis mean time to first token
 * @param tpotMillis mean time per output token after the first
 */
record MeasuredCell(MeasuredSetup setup, List<Long> lines, double ttftMillis, double tpotMillis) {

    /** Returns the mean of all rows of two cells with the same setup. */
    MeasuredCell and(MeasuredCell other) {
        double share = (double) lines.size() / (lines.size() + other.lines.size());
        return new MeasuredCell(
                setup,
                Stream.concat(lines.stream(), other.lines.stream()).toList(),
                share * ttftMillis + (1 - share) * other.ttftMillis,
                share * tpotMillis + (1 - share) * other.tpotMillis);
    }
}
