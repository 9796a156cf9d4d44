package understudy.report;

import de.siegmar.fastcsv.writer.CsvWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Writes one line per request, in the order in which they ended; times in milliseconds, empty where there is none. The last
 * columns have the names of the session cache; a prefill that is skipped ends when it would have begun.
 */
public final class RequestsCsv {
    private static final String[] HEADER = {
        "request_id",
        "replica",
        "outcome",
        "arrival_ms",
        "queue_time_ms",
        "ttft_ms",
        "tpot_ms",
        "e2el_ms",
        "prompt_tokens",
        "cached_tokens",
        "computed_tokens",
        "output_tokens",
        "num_preemptions",
        "session_id",
        "turn",
        "is_conversational_turn",
        "truncated_tokens",
        "prefix_cache_events",
        "cached_prefix_length_used",
        "num_tokens_actually_prefilled",
        "prefill_start_ms",
        "prefill_end_ms"
    };

    private static final long NANOS_PER_MILLI = 1_000_000;

    private RequestsCsv() {}

    /** Writes header and lines; the caller closes {@code out}. */
    public static void write(RequestLog requests, Writer out) throws IOException {
        var csv = CsvWriter.builder().build(out);
        csv.writeRecord(HEADER);
        try {
            for (int i = 0; i < requests.size(); i++) {
                csv.writeRecord(line(requests.get(i)));
            }
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        csv.flush();
    }

    private static String[] line(RequestRecord request) {
        boolean hasAnswer = request.numOutputTokens() > 0;
        var turn = request.turn();
        boolean isInSession = turn.isInSession();
        String numPrefilled = hasAnswer ? String.valueOf(request.numPrefilledTokens()) : "0";
        return new String[] {
            String.valueOf(request.requestId()),
            String.valueOf(request.replicaIndex()),
            request.outcome().name().toLowerCase(Locale.ROOT),
            millis(request.arrivalNanos()),
            hasAnswer ? millis(request.queueTimeNanos()) : "",
            hasAnswer ? millis(request.ttftNanos()) : "",
            request.numOutputTokens() > 1 ? millis(Math.round(request.tpotNanos())) : "",
            hasAnswer ? millis(request.e2elNanos()) : "",
            String.valueOf(request.numPromptTokens()),
            String.valueOf(request.numCachedTokens()),
            numPrefilled,
            String.valueOf(request.numOutputTokens()),
            String.valueOf(request.numPreemptions()),
            isInSession ? String.valueOf(turn.sessionId()) : "",
            isInSession ? String.valueOf(turn.turn()) : "",
            String.valueOf(turn.isConversationalTurn()),
            String.valueOf(turn.numTruncatedTokens()),
            request.events().list().stream().map(Enum::name).collect(Collectors.joining("+")),
            String.valueOf(request.numCachedTokens()),
            numPrefilled,
            hasAnswer ? millis(request.scheduledNanos()) : "",
            hasAnswer ? millis(request.prefillEndNanos()) : ""
        };
    }

    /** Six decimals are whole nanoseconds. */
    static String millis(long nanos) {
        return nanos / NANOS_PER_MILLI + String.format(Locale.ROOT, ".%06d", nanos % NANOS_PER_MILLI);
    }
}
