package example;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.workload.trace.CsvTable;
import understudy.workload.trace.TraceReader;
import understudy.workload.trace.TraceRow;

/** A plain trace: CSV with the columns {@code seconds, prompt, answer}, a time and two lengths in tokens. */
final class PlainReader implements TraceReader {
    private static final List<String> COLUMNS = List.of("seconds", "prompt", "answer");

    private final CsvTable table;

    PlainReader(Path file) {
        table = new CsvTable(file);
    }

    @Override
    public @Nullable TraceRow next() {
        if (!table.next(COLUMNS)) {
            return null;
        }
        long arrivalNanos = Math.round(table.seconds("seconds") * 1e9);
        return TraceRow.of(table.line(), arrivalNanos, table.wholeNumber("prompt", 1), table.wholeNumber("answer", 1));
    }

    @Override
    public void close() {
        table.close();
    }
}
