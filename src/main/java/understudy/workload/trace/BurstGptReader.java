package understudy.workload.trace;

import it.unimi.dsi.fastutil.objects.Object2IntOpenHashMap;
import it.unimi.dsi.fastutil.objects.Object2LongOpenHashMap;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.prompt.SessionTurn;

/**
 * The BurstGPT traces: CSV with the columns {@code Timestamp} in seconds, {@code Request tokens} and {@code Response
 * tokens}; those of version 2 have a {@code Session ID}, too. Calls that have failed have no response tokens, and are
 * left out. The traces say nothing about content, so no two prompts share anything, not even those of a session.
 *
 * <p>See <a href="https://github.com/HPMLL/BurstGPT">BurstGPT</a> (Wang et al., KDD 2025).
 */
final class BurstGptReader implements TraceReader {
    static final String REQUEST_TOKENS = "Request tokens";
    private static final String RESPONSE_TOKENS = "Response tokens";
    private static final String SESSION = "Session ID";
    private static final List<String> COLUMNS = List.of("Timestamp", REQUEST_TOKENS, RESPONSE_TOKENS);
    private static final double NANOS_PER_SECOND = 1e9;

    private final CsvTable table;
    private final Object2LongOpenHashMap<String> numbers = new Object2LongOpenHashMap<>();
    private final Object2IntOpenHashMap<String> turns = new Object2IntOpenHashMap<>();

    BurstGptReader(Path file) {
        table = new CsvTable(file);
    }

    @Override
    public @Nullable TraceRow next() {
        while (table.next(COLUMNS)) {
            long arrivalNanos = Math.round(table.seconds("Timestamp") * NANOS_PER_SECOND);
            int responseTokens = table.wholeNumber(RESPONSE_TOKENS, 0);
            if (responseTokens > 0) {
                return TraceRow.of(table.line(), arrivalNanos, table.wholeNumber(REQUEST_TOKENS, 1), responseTokens)
                        .withTurn(turn(table.text(SESSION)));
            }
        }
        return null;
    }

    private SessionTurn turn(String session) {
        if (session.isEmpty()) {
            return SessionTurn.NONE;
        }
        numbers.putIfAbsent(session, numbers.size());
        return SessionTurn.of(numbers.getLong(session), turns.addTo(session, 1) + 1);
    }

    @Override
    public void close() {
        table.close();
    }
}
