package understudy.fidelity;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import understudy.workload.trace.CsvTable;

/**
 * Mean times of a real server at a fixed concurrency: a row of a CSV file with the columns {@code isl, osl,
 * concurrency, tp, mean_ttft_ms, mean_tpot_ms}.
 *
 * @param inputTokens longest prompt
 * @param outputTokens longest answer
 * @param concurrency requests in flight at a time
 * @param tensorParallelSize GPUs
 * @param ttftMillis mean time to first token
 * @param tpotMillis mean time per output token after the first
 */
public record MeasuredCell(
        int inputTokens,
        int outputTokens,
        int concurrency,
        int tensorParallelSize,
        double ttftMillis,
        double tpotMillis) {
    private static final List<String> COLUMNS =
            List.of("isl", "osl", "concurrency", "tp", "mean_ttft_ms", "mean_tpot_ms");

    /** Reads all rows of a file. */
    public static List<MeasuredCell> read(Path file) {
        try (var table = new CsvTable(file)) {
            var cells = new ArrayList<MeasuredCell>();
            while (table.next(COLUMNS)) {
                cells.add(new MeasuredCell(
                        table.wholeNumber("isl", 1),
                        table.wholeNumber("osl", 1),
                        table.wholeNumber("concurrency", 1),
                        table.wholeNumber("tp", 1),
                        table.positive("mean_ttft_ms"),
                        table.positive("mean_tpot_ms")));
            }
            return cells;
        }
    }
}
