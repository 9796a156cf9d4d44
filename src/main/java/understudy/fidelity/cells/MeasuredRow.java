package understudy.fidelity.cells;

import java.util.List;
import java.util.OptionalDouble;

/**
 * Row of a table that can be run.
 *
 * @param cell what it measured
 * @param requestsPerSecond throughput, where it says one
 * @param assumed what is read otherwise than it stands there
 */
record MeasuredRow(MeasuredCell cell, OptionalDouble requestsPerSecond, List<String> assumed) {
    Remark remark(String text) {
        return new Remark(cell.lines(), cell.setup().name(), text);
    }

    List<Remark> assumptions() {
        return assumed.stream().map(this::remark).toList();
    }
}
