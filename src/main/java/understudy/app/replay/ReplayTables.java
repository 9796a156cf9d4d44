package understudy.app.replay;

import com.github.freva.asciitable.ColumnData;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import understudy.replay.ReplayPolicy;
import understudy.replay.ReplayReport;
import understudy.replay.ReplayResult;
import understudy.replay.SharingView;
import understudy.report.Tables;

/** The report of a replay as text. */
public record ReplayTables(ReplayReport report) {
    private static final double PERCENT = 100;
    private static final String BEST = "* ";
    private static final String UNDEFINED = "-";

    /** Returns the tables, with a line break at the end. */
    public static String text(ReplayReport report) {
        var tables = new ReplayTables(report);
        return tables.trace() + "\n" + tables.rates() + "\n" + tables.sharing() + "\n";
    }

    /** Returns how fast it went, with a line break at the end. */
    public static String speed(ReplayReport report, double wallSeconds) {
        long numReplayed =
                report.results().stream().mapToLong(ReplayResult::blockAccesses).sum();
        return String.format(
                Locale.ROOT,
                "%n%d %s, %.1f million block accesses in %.2f s%n",
                report.results().size(),
                report.results().size() == 1 ? "replay" : "replays",
                numReplayed / 1e6,
                wallSeconds);
    }

    private String trace() {
        var sharing = report.sharing();
        return String.format(
                Locale.ROOT,
                "%s: %d requests, %d prompt tokens, %d accesses to %d different blocks of %d tokens%n",
                String.join(", ", report.files()),
                report.numRequests(),
                report.numPromptTokens(),
                sharing.numAccesses(),
                sharing.numBlocks(),
                report.blockSize());
    }

    private String rates() {
        var columns = new ArrayList<ColumnData<Row>>();
        columns.add(Tables.words("policy", row -> row.name));
        for (int capacity : report.capacities()) {
            columns.add(Tables.numbers(header(capacity), row -> row.cell.apply(capacity)));
        }
        if (report.capacities().isEmpty()) {
            columns.add(Tables.numbers("any capacity", row -> row.cell.apply(0)));
        }
        return "Prompt tokens hit, in %, by capacity in blocks (and in % of the different ones)\n"
                + Tables.text(rows(), columns) + "\n" + legend();
    }

    /** Row of a table: its words on the left, and its cell for each capacity. */
    private record Row(String name, IntFunction<String> cell) {}

    /** Policies that one can have, an empty row, and what to compare them with. */
    private List<Row> rows() {
        var rows = new ArrayList<Row>();
        policies(false).forEach(policy -> rows.add(row(policy)));
        if (!rows.isEmpty() && !policies(true).isEmpty()) {
            rows.add(new Row("", capacity -> ""));
        }
        policies(true).forEach(policy -> rows.add(row(policy)));
        if (hasBound()) {
            rows.add(new Row("bound", this::bound));
        }
        return rows;
    }

    private List<ReplayPolicy> policies(boolean isIdeal) {
        return report.policies().stream()
                .filter(policy -> ReplayReport.isIdeal(policy) == isIdeal)
                .toList();
    }

    private Row row(ReplayPolicy policy) {
        return new Row(policy.toString(), capacity -> rate(policy, capacity));
    }

    private boolean hasBound() {
        return report.policies().contains(ReplayPolicy.BELADY_BYPASS);
    }

    private String bound(int capacity) {
        var bound = report.boundOfHitRate(capacity);
        return bound.isEmpty() ? UNDEFINED : percent(bound.getAsDouble());
    }

    private String header(int capacity) {
        String share = percent((double) capacity / report.sharing().numBlocks());
        return capacity + " (" + share.replaceFirst("\\.?0+$", "") + "%)";
    }

    private String rate(ReplayPolicy policy, int capacity) {
        return report.result(policy, capacity)
                .map(result -> (report.isBest(result) ? BEST : "") + percent(result.overallHitRate()))
                .orElse(UNDEFINED);
    }

    private String legend() {
        var lines = new StringBuilder();
        if (report.results().stream().anyMatch(report::isBest)) {
            lines.append("* best of the policies that know only the past\n");
        }
        if (report.policies().contains(ReplayPolicy.BELADY)) {
            lines.append("belady knows the future: no policy that must admit every block hits more blocks\n");
        }
        if (hasBound()) {
            lines.append("belady-bypass knows the future and need not admit: it is the bound of block hits\n");
        }
        if (report.policies().contains(ReplayPolicy.INFINITE)) {
            lines.append("infinite never evicts: no capacity and no policy hits more\n");
        }
        if (hasBound()) {
            lines.append("bound: no policy hits more tokens, since they lie in blocks that are hit\n");
        }
        return lines.toString();
    }

    private String sharing() {
        var sharing = report.sharing();
        String reuses = String.format(
                Locale.ROOT,
                "Reuse: %d of %d accesses (%s %%) are to a block accessed before%n",
                sharing.numReuses(),
                sharing.numAccesses(),
                percent(share(sharing.numReuses(), sharing.numAccesses())));
        return reuses + distances(sharing) + "\n" + times(sharing);
    }

    private static String distances(SharingView sharing) {
        var reuses = sharing.reusesByLruBlocks();
        List<ColumnData<Integer>> columns = List.of(
                Tables.counts("an LRU cache of blocks", i -> 1L << i),
                Tables.counts("hits reuses", reuses::getLong),
                Tables.numbers("% of accesses", i -> percent(share(reuses.getLong(i), sharing.numAccesses()))));
        return Tables.text(IntStream.range(0, reuses.size()).boxed().toList(), columns) + "\n";
    }

    private static String times(SharingView sharing) {
        if (!sharing.isTimed()) {
            return "Timestamps run back at request " + sharing.requestBackInTime()
                    + ", so they do not say how long blocks wait for their next use.";
        }
        var reuses = sharing.reusesWithinMillis();
        List<ColumnData<Integer>> columns = List.of(
                Tables.numbers("kept for", SharingView::limitName),
                Tables.counts("reuses within", reuses::getLong),
                Tables.numbers("% of reuses", i -> percent(share(reuses.getLong(i), sharing.numReuses()))));
        return Tables.text(IntStream.range(0, reuses.size()).boxed().toList(), columns);
    }

    private static double share(long part, long whole) {
        return whole == 0 ? 0 : (double) part / whole;
    }

    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.2f", share * PERCENT);
    }
}
