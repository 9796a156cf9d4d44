package understudy.workload.trace;

import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The Azure LLM inference traces: CSV with the columns {@code TIMESTAMP, ContextTokens, GeneratedTokens}. Time counts
 * from the first row. The traces say nothing about content, so no two prompts share anything.
 *
 * <p>See <a href="https://github.com/Azure/AzurePublicDataset">AzurePublicDataset</a> (Splitwise, ISCA 2024).
 */
public final class AzureTraceReader implements TraceReader {
    private static final String TIMESTAMP = "TIMESTAMP";
    private static final List<String> COLUMNS = List.of(TIMESTAMP, "ContextTokens", "GeneratedTokens");

    private final CsvTable table;
    private @Nullable LocalDateTime start;

    /** Opens a trace. */
    public AzureTraceReader(Path file) {
        table = new CsvTable(file);
    }

    @Override
    public @Nullable TraceRow next() {
        if (!table.next(COLUMNS)) {
            return null;
        }
        var time = timestamp();
        if (start == null) {
            start = time;
        }
        long arrivalNanos = ChronoUnit.NANOS.between(start, time);
        if (arrivalNanos < 0) {
            throw table.problem("the request arrives before the first one; sort the file by arrival");
        }
        return TraceRow.of(
                table.line(),
                arrivalNanos,
                table.wholeNumber("ContextTokens", 1),
                table.wholeNumber("GeneratedTokens", 1));
    }

    @Override
    public void close() {
        table.close();
    }

    /** The 2023 traces give local times, those of 2024 have an offset. */
    private LocalDateTime timestamp() {
        String text = table.text(TIMESTAMP);
        try {
            var time = DateTimeFormatter.ISO_DATE_TIME.parseBest(
                    text.replace(' ', 'T'), OffsetDateTime::from, LocalDateTime::from);
            return time instanceof OffsetDateTime offset
                    ? offset.withOffsetSameInstant(ZoneOffset.UTC).toLocalDateTime()
                    : (LocalDateTime) time;
        } catch (DateTimeException e) {
            throw table.unusable(TIMESTAMP, text, "a time such as 2023-11-16 18:15:46.6805900");
        }
    }
}
