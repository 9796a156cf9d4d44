package understudy.fidelity.cells;

import de.siegmar.fastcsv.writer.CsvWriter;
import java.io.IOException;
import java.io.Writer;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Comparison as CSV: a line for each run. */
final class CellCsv {
    private static final List<String> HEADER = List.of(
            "model",
            "gpu",
            "engine_version",
            "weights",
            "expert_weights",
            "kv_cache_dtype",
            "kv_cache_dtype_assumed",
            "parallelism",
            "isl",
            "osl",
            "concurrency",
            "rows",
            "short_of_kv",
            "short_of_kv_by",
            "latency_model",
            "measured_mean_tpot_ms",
            "mean_tpot_ms",
            "tpot_error_percent",
            "measured_mean_ttft_ms",
            "mean_ttft_ms",
            "ttft_error_percent");

    private CellCsv() {}

    /** Writes header and lines; the caller closes {@code out}. */
    static void write(CellComparison comparison, Writer out) throws IOException {
        var csv = CsvWriter.builder().build(out);
        csv.writeRecord(HEADER);
        for (var row : comparison.rows()) {
            row.runs().stream().filter(CellRun::hasRun).forEach(run -> csv.writeRecord(fields(row, run)));
        }
        csv.flush();
    }

    private static List<String> fields(CellRow row, CellRun run) {
        var setup = row.setup();
        var cell = row.cell();
        return Stream.of(
                        setup.model(),
                        setup.gpu(),
                        setup.version(),
                        setup.weights(),
                        setup.expertWeights(),
                        row.kvCache().dtype(),
                        row.kvCache().isAssumed(),
                        setup.parallelism(),
                        setup.inputTokens(),
                        setup.outputTokens(),
                        setup.concurrency(),
                        cell.lines().size(),
                        row.isShortOfKv(),
                        row.shortOfKvBy(),
                        run.latencyModel(),
                        decimal(cell.tpotMillis()),
                        decimal(run.tpotMillis()),
                        decimal(run.tpotErrorPercent()),
                        decimal(cell.ttftMillis()),
                        decimal(run.ttftMillis()),
                        decimal(run.ttftErrorPercent()))
                .map(String::valueOf)
                .toList();
    }

    private static String decimal(double value) {
        return String.format(Locale.ROOT, "%.4f", value);
    }
}
