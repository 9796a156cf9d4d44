package understudy.replay;

import java.io.IOException;
import java.io.Writer;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import understudy.report.html.HtmlDocument;

/**
 * Writes the report of a replay as a page of one file: charts drawn by Chart.js, which is in it, and tables that need
 * no script. It loads nothing, and tells the browser so.
 */
public final class ReplayHtml {
    private static final double PERCENT = 100;

    private final ReplayReport report;

    private ReplayHtml(ReplayReport report) {
        this.report = report;
    }

    /** Writes the page; the caller closes {@code out}. */
    public static void write(ReplayReport report, Writer out) throws IOException {
        var html = new ReplayHtml(report);
        String body = HtmlDocument.fill(
                resource("replay.html"),
                Map.of(
                        "trace", html.trace(),
                        "rates", html.rates(),
                        "distances", html.distances(),
                        "times", html.times()));
        new HtmlDocument("Prefix-cache replay", "", body, ReplayJson.compact(report), resource("replay.js")).write(out);
    }

    private static String resource(String name) {
        return HtmlDocument.resource("understudy/replay/" + name);
    }

    private String trace() {
        var sharing = report.sharing();
        return fact("Trace", HtmlDocument.escaped(String.join(", ", report.files())))
                + fact("Requests", count(report.numRequests()))
                + fact("Prompt tokens", count(report.numPromptTokens()))
                + fact("Tokens per block", count(report.blockSize()))
                + fact("Block accesses", count(sharing.numAccesses()))
                + fact("Different blocks", count(sharing.numBlocks()));
    }

    private static String fact(String name, String value) {
        return "<div><dt>" + name + "</dt><dd>" + value + "</dd></div>\n";
    }

    private String rates() {
        var capacities = report.capacities();
        var headers = capacities.isEmpty()
                ? List.of("any capacity")
                : capacities.stream().map(ReplayHtml::count).toList();
        String head = row("th", "Policy", headers);
        return "<thead>" + head + "</thead>\n<tbody>\n"
                + rates(
                        capacities,
                        report.policies().stream()
                                .filter(p -> !ReplayReport.isIdeal(p))
                                .toList())
                + "</tbody>\n<tbody>\n"
                + rates(
                        capacities,
                        report.policies().stream().filter(ReplayReport::isIdeal).toList())
                + bounds(capacities)
                + "</tbody>\n";
    }

    private String rates(List<Integer> capacities, List<ReplayPolicy> policies) {
        // Where no policy has a capacity, there is one column all the same.
        var columns = capacities.isEmpty() ? List.of(0) : capacities;
        return policies.stream()
                .map(policy -> row(
                        "td",
                        policy.toString(),
                        columns.stream().map(c -> rate(policy, c)).toList()))
                .collect(Collectors.joining());
    }

    private String bounds(List<Integer> capacities) {
        return report.policies().contains(ReplayPolicy.BELADY_BYPASS)
                ? row("td", "bound", capacities.stream().map(this::bound).toList())
                : "";
    }

    private String bound(int capacity) {
        var bound = report.boundOfHitRate(capacity);
        return bound.isEmpty() ? "not defined" : percent(bound.getAsDouble());
    }

    private String rate(ReplayPolicy policy, int capacity) {
        return report.result(policy, capacity)
                .map(result -> report.isBest(result)
                        ? "best <b>" + percent(result.overallHitRate()) + "</b>"
                        : percent(result.overallHitRate()))
                .orElse("not defined");
    }

    private String distances() {
        var sharing = report.sharing();
        var text = new StringBuilder();
        for (int i = 0; i < sharing.reusesByLruBlocks().size(); i++) {
            long reuses = sharing.reusesByLruBlocks().getLong(i);
            text.append(row("td", count(1L << i), List.of(count(reuses), share(reuses, sharing.numAccesses()))));
        }
        return text.toString();
    }

    private String times() {
        var sharing = report.sharing();
        if (!sharing.isTimed()) {
            return row("td", "unknown", List.of("time runs back at request " + sharing.requestBackInTime(), ""));
        }
        var text = new StringBuilder();
        for (int i = 0; i < SharingView.numLimits(); i++) {
            long reuses = sharing.reusesWithinMillis().getLong(i);
            text.append(
                    row("td", SharingView.limitName(i), List.of(count(reuses), share(reuses, sharing.numReuses()))));
        }
        return text.toString();
    }

    private static String row(String cell, String name, List<String> values) {
        String scope = cell.equals("th") ? "<th scope=\"col\">" : "<th scope=\"row\">";
        String open = cell.equals("th") ? "<th scope=\"col\">" : "<td>";
        return "<tr>" + scope + name + "</th>"
                + values.stream().map(value -> open + value + "</" + cell + ">").collect(Collectors.joining())
                + "</tr>\n";
    }

    private static String count(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    private static String share(long part, long whole) {
        return percent(whole == 0 ? 0 : (double) part / whole);
    }

    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.2f %%", share * PERCENT);
    }
}
