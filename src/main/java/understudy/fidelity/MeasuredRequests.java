package understudy.fidelity;

import it.unimi.dsi.fastutil.doubles.DoubleArrayList;
import it.unimi.dsi.fastutil.doubles.DoubleList;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import understudy.workload.trace.CsvTable;

/**
 * Times of a real server for the requests of a trace: CSV with the columns {@code arrival_s, output_toks,
 * first_token_s, last_token_s} on one clock. Times are nanoseconds.
 *
 * @param ttftNanos from arrival to first token, of every request
 * @param tpotNanos per token after the first, of every request with two or more tokens
 * @param e2elNanos from arrival to last token, of every request
 * @param makespanSeconds from the first arrival to the last token of all
 */
public record MeasuredRequests(
        DoubleList ttftNanos, DoubleList tpotNanos, DoubleList e2elNanos, double makespanSeconds) {
    private static final List<String> COLUMNS = List.of("arrival_s", "output_toks");
    private static final String FIRST_TOKEN = "first_token_s";
    private static final String LAST_TOKEN = "last_token_s";
    private static final double NANOS_PER_SECOND = 1e9;

    /**
     * Reads a file, or returns nothing if it has no measured times.
     *
     * @param limit most rows to read, or 0 for all
     */
    public static Optional<MeasuredRequests> read(Path file, long limit) {
        try (var table = new CsvTable(file)) {
            var times = new Times();
            while ((limit == 0 || times.ttft.size() < limit) && table.next(COLUMNS)) {
                if (table.text(FIRST_TOKEN).isEmpty() || table.text(LAST_TOKEN).isEmpty()) {
                    return Optional.empty();
                }
                times.add(table);
            }
            return times.ttft.isEmpty() ? Optional.empty() : Optional.of(times.toMeasured());
        }
    }

    private static final class Times {
        private final DoubleArrayList ttft = new DoubleArrayList();
        private final DoubleArrayList tpot = new DoubleArrayList();
        private final DoubleArrayList e2el = new DoubleArrayList();
        private double firstArrival = Double.POSITIVE_INFINITY;
        private double lastToken;

        void add(CsvTable row) {
            double arrival = row.seconds("arrival_s");
            double first = row.seconds(FIRST_TOKEN);
            double last = row.seconds(LAST_TOKEN);
            if (first < arrival || last < first) {
                throw row.problem(LAST_TOKEN + " must not be before " + FIRST_TOKEN + ", nor that before arrival_s");
            }
            int numTokens = row.wholeNumber("output_toks", 1);
            ttft.add((first - arrival) * NANOS_PER_SECOND);
            e2el.add((last - arrival) * NANOS_PER_SECOND);
            if (numTokens > 1) {
                tpot.add((last - first) / (numTokens - 1) * NANOS_PER_SECOND);
            }
            firstArrival = Math.min(firstArrival, arrival);
            lastToken = Math.max(lastToken, last);
        }

        MeasuredRequests toMeasured() {
            return new MeasuredRequests(ttft, tpot, e2el, lastToken - firstArrival);
        }
    }
}
