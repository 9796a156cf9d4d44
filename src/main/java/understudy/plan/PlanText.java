package understudy.plan;

import com.github.freva.asciitable.ColumnData;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import understudy.plan.PlanSearch.Tried;
import understudy.report.Tables;
import understudy.sweep.SweepRow;

/** Words and tables of a report. */
public final class PlanText {
    private static final double MANY_TIMES = 2;

    private PlanText() {}

    /** Returns the report for the console. */
    public static String write(PlanReport report) {
        var text = new StringBuilder();
        verdicts(report).forEach(line -> text.append(line).append('\n'));
        text.append('\n');
        text.append("Front of cost and level, under the whole load (* keeps the level):\n");
        text.append(Tables.text(report.search().front(), columns(report))).append('\n');
        refusals(report).forEach(line -> text.append(line).append('\n'));
        return text.append(effort(report)).append('\n').toString();
    }

    /** Returns the answer line by line. */
    static List<String> verdicts(PlanReport report) {
        var lines = new ArrayList<String>();
        var search = report.search();
        search.winner().ifPresent(best -> {
            lines.add("The cheapest that keeps the service level: " + deployment(report, best));
            addReasons(report, best, lines);
        });
        search.nextCheaper().ifPresent(cheaper -> {
            lines.add("The next cheaper one misses it: " + deployment(report, cheaper));
            addReasons(report, cheaper, lines);
        });
        if (search.winner().isPresent() && search.nextCheaper().isEmpty()) {
            lines.add("No candidate is cheaper.");
        }
        if (search.winner().isEmpty()) {
            lines.add("No candidate keeps the service level.");
            search.closest().ifPresent(closest -> {
                lines.add("The one that comes closest: " + deployment(report, closest));
                addReasons(report, closest, lines);
            });
        }
        return lines;
    }

    private static void addReasons(PlanReport report, Tried tried, List<String> lines) {
        report.limits(tried).forEach(line -> lines.add("  " + line));
        var bottleneck = report.bottleneck(tried);
        lines.add("  bound by " + bottleneck.kind().name().toLowerCase(Locale.ROOT) + ": " + bottleneck.reason());
    }

    private static String deployment(PlanReport report, Tried tried) {
        var candidate = tried.candidate();
        return String.format(
                Locale.ROOT,
                "%s, %d GPU%s, %.2f an hour, %.3f per million output tokens",
                candidate.name(),
                candidate.numGpus(),
                candidate.numGpus() == 1 ? "" : "s",
                candidate.hourCost(),
                report.costPerMillionTokens(tried));
    }

    /** Returns one limit in words. */
    static String limit(Judgement.Use use, Optional<SweepRow.Figure> figure) {
        if (use.key().isEmpty()) {
            return String.format(Locale.ROOT, "%.0f %s", use.value(), use.limit());
        }
        if (figure.isEmpty()) {
            return String.format(
                    Locale.ROOT,
                    "%s: %.2f %% of the requests, wanted %.2f %%",
                    use.limit(),
                    100 * use.value(),
                    100 * use.allowed());
        }
        double halfWidth = figure.get().halfWidth();
        String seeds = Double.isNaN(halfWidth)
                ? ""
                : String.format(
                        Locale.ROOT,
                        " (%.1f +- %.1f over all seeds)",
                        figure.get().mean(),
                        halfWidth);
        return String.format(
                Locale.ROOT,
                "%s %.1f of %s ms%s: %s",
                use.limit(),
                use.value(),
                millis(use.allowed()),
                seeds,
                margin(use.ratio()));
    }

    private static String margin(double ratio) {
        if (ratio > MANY_TIMES) {
            return String.format(Locale.ROOT, "%.1f times the limit", ratio);
        }
        return ratio <= 1
                ? String.format(Locale.ROOT, "%.0f %% to spare", 100 * (1 - ratio))
                : String.format(Locale.ROOT, "%.1f %% too much", 100 * (ratio - 1));
    }

    private static String millis(double millis) {
        return String.format(Locale.ROOT, millis == Math.rint(millis) ? "%.0f" : "%.2f", millis);
    }

    /** Returns the columns of a table of what was run. */
    static List<ColumnData<Tried>> columns(PlanReport report) {
        return List.of(
                Tables.words("candidate", tried -> tried.candidate().name()),
                Tables.counts("GPUs", tried -> tried.candidate().numGpus()),
                Tables.decimals("cost/h", "%.2f", tried -> tried.candidate().hourCost()),
                Tables.decimals("cost/M tokens", "%.3f", report::costPerMillionTokens),
                Tables.decimals("p99 TTFT, ms", "%.1f", tried -> report.figure(tried, "p99_ttft_ms")),
                Tables.decimals("p99 TPOT, ms", "%.2f", tried -> report.figure(tried, "p99_tpot_ms")),
                Tables.decimals("p99 E2EL, ms", "%.0f", tried -> report.figure(tried, "p99_e2el_ms")),
                Tables.numbers("of the level", tried -> share(tried.judgement().ratio())),
                Tables.words("", tried -> tried.judgement().isKept() ? "*" : ""));
    }

    private static String share(double ratio) {
        return ratio == Double.POSITIVE_INFINITY ? "" : String.format(Locale.ROOT, "%.0f %%", 100 * ratio);
    }

    /** Returns a line for each reason for which combinations cannot be run. */
    static List<String> refusals(PlanReport report) {
        return report.refused().entrySet().stream()
                .map(entry -> "Left out: " + entry.getValue().get(0)
                        + others(entry.getValue().size() - 1) + ": " + entry.getKey())
                .toList();
    }

    private static String others(int count) {
        return count == 0 ? "" : " and " + count + " more";
    }

    /** Returns what the search has cost. */
    static String effort(PlanReport report) {
        var loads = report.loads();
        long whole = loads.numRequests(loads.last());
        String seeds = report.numSeeds() == 1 ? "seed 1" : "each of the seeds 1 to " + report.numSeeds();
        return String.format(
                Locale.ROOT,
                "%d candidates of %d kinds; %d emulated requests, %.1f %% of the %d that all of them under the whole"
                        + " load (%d requests with %s) come to.",
                report.search().numCandidates(),
                report.numUnits(),
                report.numRequests(),
                100.0 * report.numRequests() / report.numRequestsOfAll(),
                report.numRequestsOfAll(),
                whole,
                seeds);
    }
}
