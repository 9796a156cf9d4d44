package understudy.report;

import de.siegmar.fastcsv.writer.CsvWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Writes one line per request, in the order in which they ended; times in milliseconds, empty where there is none. The
 * last columns have the names of the session cache; a prefill that is skipped ends when it would have begun.
 */
public final class RequestsCsv {
    /** Name of a column, and its values. */
    private record Column(String name, Function<RequestRecord, String> value) {}

    private static final List<Column> COLUMNS = List.of(
            new Column("request_id", r -> String.valueOf(r.requestId())),
            new Column("replica", r -> String.valueOf(r.replicaIndex())),
            new Column("outcome", r -> r.outcome().name().toLowerCase(Locale.ROOT)),
            new Column("arrival_ms", r -> millis(r.arrivalNanos())),
            new Column("queue_time_ms", r -> hasAnswer(r) ? millis(r.queueTimeNanos()) : ""),
            new Column("ttft_ms", r -> hasAnswer(r) ? millis(r.ttftNanos()) : ""),
            new Column("tpot_ms", r -> r.numOutputTokens() > 1 ? millis(Math.round(r.tpotNanos())) : ""),
            new Column("e2el_ms", r -> hasAnswer(r) ? millis(r.e2elNanos()) : ""),
            new Column("prompt_tokens", r -> String.valueOf(r.numPromptTokens())),
            new Column("cached_tokens", r -> String.valueOf(r.numCachedTokens())),
            new Column("computed_tokens", RequestsCsv::numPrefilled),
            new Column("output_tokens", r -> String.valueOf(r.numOutputTokens())),
            new Column("num_preemptions", r -> String.valueOf(r.numPreemptions())),
            new Column(
                    "session_id",
                    r -> r.turn().isInSession() ? String.valueOf(r.turn().sessionId()) : ""),
            new Column(
                    "turn",
                    r -> r.turn().isInSession() ? String.valueOf(r.turn().turn()) : ""),
            new Column("is_conversational_turn", r -> String.valueOf(r.turn().isConversationalTurn())),
            new Column("truncated_tokens", r -> String.valueOf(r.turn().numTruncatedTokens())),
            new Column(
                    "prefix_cache_events",
                    r -> r.events().list().stream().map(Enum::name).collect(Collectors.joining("+"))),
            new Column("cached_prefix_length_used", r -> String.valueOf(r.numCachedTokens())),
            new Column("num_tokens_actually_prefilled", RequestsCsv::numPrefilled),
            new Column("prefill_start_ms", r -> hasAnswer(r) ? millis(r.scheduledNanos()) : ""),
            new Column("prefill_end_ms", r -> hasAnswer(r) ? millis(r.prefillEndNanos()) : ""));

    private static final long NANOS_PER_MILLI = 1_000_000;

    private RequestsCsv() {}

    /** Writes header and lines; the caller closes {@code out}. */
    public static void write(RequestLog requests, Writer out) throws IOException {
        var csv = CsvWriter.builder().build(out);
        csv.writeRecord(COLUMNS.stream().map(Column::name).toList());
        try {
            requests.stream()
                    .forEach(request -> csv.writeRecord(COLUMNS.stream()
                            .map(column -> column.value.apply(request))
                            .toList()));
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        csv.flush();
    }

    private static String numPrefilled(RequestRecord request) {
        return hasAnswer(request) ? String.valueOf(request.numPrefilledTokens()) : "0";
    }

    private static boolean hasAnswer(RequestRecord request) {
        return request.numOutputTokens() > 0;
    }

    /** Six decimals are whole nanoseconds. */
    static String millis(long nanos) {
        return nanos / NANOS_PER_MILLI + String.format(Locale.ROOT, ".%06d", nanos % NANOS_PER_MILLI);
    }
}
