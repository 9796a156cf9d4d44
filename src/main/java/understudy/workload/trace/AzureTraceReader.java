package understudy.workload.trace;

import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.prompt.SegmentedTokens;
import understudy.prompt.Segments;

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
    private long numRows;

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
        var prompt =
                SegmentedTokens.EMPTY.append(Segments.ofUniqueText(numRows++), table.wholeNumber("ContextTokens", 1));
        return new TraceRow(table.line(), arrivalNanos, prompt, table.wholeNumber("GeneratedTokens", 1), 0, "");
    }

    @Override
    public void close() {
        table.close();
    }

    /** The 2023 traces give local times, those of 2024 have an offset. */
    private LocalDateTime timestamp() {
        String text = table.text(TIMESTAMP);
        String iso = text.replace(' ', 'T');
        try {
            return iso.indexOf('+') < 0
                    ? LocalDateTime.parse(iso)
                    : OffsetDateTime.parse(iso)
                            .withOffsetSameInstant(ZoneOffset.UTC)
                            .toLocalDateTime();
        } catch (DateTimeException e) {
            throw table.unusable(TIMESTAMP, text, "a time such as 2023-11-16 18:15:46.6805900");
        }
    }
}
