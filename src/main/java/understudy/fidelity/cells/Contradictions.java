package understudy.fidelity.cells;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

/**
 * Rows that cannot all be true, by Little's law: requests in flight are the throughput times the time of a request, {@code C =
 * X (TTFT + (osl - 1) TPOT)}.
 *
 * <ul>
 *   <li>A first token takes a step that computes the prompt, too, so that TTFT is no less than TPOT.
 *   <li>Where a row has a throughput, there are about as many requests in flight as it says.
 *   <li>A server does not serve fewer requests per second because more are in flight, unless they wait for memory.
 * </ul>
 *
 * <p>Of rows that contradict one another, the one that contradicts the most of them is wrong; where nothing decides, all.
 */
final class Contradictions {
    /** Share by which figures may differ: lengths of answers vary, and a run begins and ends with fewer in flight. */
    private static final double SLACK = 0.25;

    private final List<MeasuredRow> consistent = new ArrayList<>();
    private final List<Remark> remarks = new ArrayList<>();

    /** Two rows, of which the first has at least as many requests in flight and serves far fewer. */
    private record Pair(MeasuredRow more, MeasuredRow fewer) {
        boolean has(MeasuredRow row) {
            return row.equals(more) || row.equals(fewer);
        }

        double ratio() {
            return more.cell().requestsPerSecond() / fewer.cell().requestsPerSecond();
        }

        MeasuredRow otherThan(MeasuredRow row) {
            return row.equals(more) ? fewer : more;
        }
    }

    /** Judges rows. */
    Contradictions(List<MeasuredRow> rows) {
        var possible = new ArrayList<MeasuredRow>();
        for (var row : rows) {
            String problem = problem(row);
            if (problem.isEmpty()) {
                possible.add(row);
            } else {
                remarks.add(row.remark(problem));
            }
        }
        MeasuredSetup.series(possible, row -> row.cell().setup()).forEach(this::judge);
    }

    /** Returns the rows that may be true. */
    List<MeasuredRow> consistent() {
        return consistent;
    }

    /** Returns the others, each with the arithmetic. */
    List<Remark> remarks() {
        return remarks;
    }

    private static String problem(MeasuredRow row) {
        var cell = row.cell();
        if (cell.ttftMillis() < cell.tpotMillis()) {
            return text(
                    "TTFT %.2f ms is below TPOT %.2f ms, but the first token takes a step, too",
                    cell.ttftMillis(), cell.tpotMillis());
        }
        return row.requestsPerSecond().isPresent() ? throughputProblem(row, row.requestsPerSecond()) : "";
    }

    private static String throughputProblem(MeasuredRow row, OptionalDouble requestsPerSecond) {
        var cell = row.cell();
        double perSecond = requestsPerSecond.getAsDouble();
        double numInFlight = perSecond * cell.e2eMillis() / 1e3;
        int concurrency = cell.setup().concurrency();
        return Math.abs(numInFlight / concurrency - 1) <= SLACK
                ? ""
                : text(
                        "%.4g requests/s x (%.2f ms + %d x %.2f ms) are %.1f in flight, not %d",
                        perSecond,
                        cell.ttftMillis(),
                        cell.setup().outputTokens() - 1,
                        cell.tpotMillis(),
                        numInFlight,
                        concurrency);
    }

    private void judge(List<MeasuredRow> series) {
        var left = new ArrayList<>(series);
        for (var pairs = pairs(left); !pairs.isEmpty(); pairs = pairs(left)) {
            var found = pairs;
            long most = left.stream().mapToLong(row -> count(found, row)).max().orElseThrow();
            var wrong = left.stream().filter(row -> count(found, row) == most).toList();
            wrong.forEach(row -> remarks.add(row.remark(problem(row, found))));
            left.removeAll(wrong);
        }
        consistent.addAll(left);
    }

    private static List<Pair> pairs(List<MeasuredRow> rows) {
        var pairs = new ArrayList<Pair>();
        for (var more : rows) {
            for (var fewer : rows) {
                if (contradict(more.cell(), fewer.cell())) {
                    pairs.add(new Pair(more, fewer));
                }
            }
        }
        return pairs;
    }

    private static boolean contradict(MeasuredCell more, MeasuredCell fewer) {
        int further = more.setup().concurrency() - fewer.setup().concurrency();
        return further >= 0
                && more.requestsPerSecond() < (1 - SLACK) * fewer.requestsPerSecond()
                && (further == 0 || more.numWaiting(fewer) < MeasuredWaiting.MIN_WAITING);
    }

    private static long count(List<Pair> pairs, MeasuredRow row) {
        return pairs.stream().filter(pair -> pair.has(row)).count();
    }

    /** Says what the row serves, and what the one does that contradicts it the most. */
    private static String problem(MeasuredRow row, List<Pair> pairs) {
        var other = pairs.stream()
                .filter(pair -> pair.has(row))
                .min(Comparator.comparingDouble(Pair::ratio))
                .orElseThrow()
                .otherThan(row)
                .cell();
        var cell = row.cell();
        return text(
                "%d / (%.2f ms + %d x %.2f ms) are %.4g requests/s, but line %d with %d in flight has %.4g",
                cell.setup().concurrency(),
                cell.ttftMillis(),
                cell.setup().outputTokens() - 1,
                cell.tpotMillis(),
                cell.requestsPerSecond(),
                other.lines().get(0),
                other.setup().concurrency(),
                other.requestsPerSecond());
    }

    private static String text(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
