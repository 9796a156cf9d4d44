package understudy.sweep;

import com.github.freva.asciitable.ColumnData;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import understudy.report.LatencyName;
import understudy.report.Tables;
import understudy.report.Total;
import understudy.settings.ScenarioException;

/**
 * Table of a sweep: what varies, whether the service level is kept, and some figures.
 *
 * @param settings keys that differ between rows
 * @param figures keys of the report
 */
public record SweepColumns(List<String> settings, List<String> figures) {
    private static final String COST = "fleet.cost_per_million_output_tokens";

    /** Figures that are shown if there are any, and their short names. */
    private static final Map<String, String> USUAL = usual();

    private static final double NO_DECIMALS_FROM = 10_000;

    private static Map<String, String> usual() {
        var names = new LinkedHashMap<String, String>();
        names.put(Total.COMPLETED.key(), "completed");
        names.put(Total.REQUEST_THROUGHPUT.key(), "requests/s");
        names.put(Total.REQUEST_GOODPUT.key(), "good/s");
        names.put(Total.OUTPUT_THROUGHPUT.key(), "tokens/s");
        names.put(LatencyName.TTFT.keyOf("mean"), "mean TTFT, ms");
        names.put(LatencyName.TTFT.keyOf("p99"), "p99 TTFT, ms");
        names.put(LatencyName.TPOT.keyOf("mean"), "mean TPOT, ms");
        names.put(LatencyName.TPOT.keyOf("p99"), "p99 TPOT, ms");
        names.put("output_throughput_per_user", "tokens/s/user");
        names.put("output_throughput_per_gpu", "tokens/s/GPU");
        names.put(COST, "cost/M tokens");
        return names;
    }

    /**
     * Returns the columns for some rows.
     *
     * @param wanted keys of the report; empty for the usual ones, as far as there are such
     * @throws ScenarioException if no report has a key that is wanted
     */
    public static SweepColumns of(List<SweepRow> rows, List<String> wanted) {
        for (String key : wanted) {
            requireKnown(rows, key);
        }
        var figures = wanted.isEmpty()
                ? USUAL.keySet().stream().filter(key -> has(rows, key)).toList()
                : wanted;
        return new SweepColumns(settings(rows), figures);
    }

    private static boolean has(List<SweepRow> rows, String key) {
        return rows.stream().anyMatch(row -> row.figure(key).isPresent());
    }

    private static void requireKnown(List<SweepRow> rows, String key) {
        var run = rows.stream()
                .flatMap(row -> row.runs().stream())
                .filter(each -> !each.isHopeless())
                .findFirst();
        if (run.isPresent() && !has(rows, key)) {
            throw new ScenarioException(
                    "--columns " + key + ": no report has such a number; see run --json, and put dots between levels");
        }
    }

    private static List<String> settings(List<SweepRow> rows) {
        Set<String> keys = new LinkedHashSet<>();
        rows.forEach(row -> keys.addAll(row.point().settings().keySet()));
        return List.copyOf(keys);
    }

    /** Returns which of several rows keeps the service level for the least money; empty if nothing has a price. */
    static Optional<String> cheapest(List<SweepRow> rows) {
        var axes = SweepAxes.of(rows);
        return rows.stream()
                .filter(row -> row.meetsSlo().orElse(false) && row.figure(COST).isPresent())
                .min(Comparator.comparingDouble(SweepColumns::cost))
                .filter(best -> rows.size() > 1)
                .map(best -> String.format(
                        Locale.ROOT,
                        "The cheapest that keeps the service level: %s, at %.2f per million output tokens.",
                        axes.name(best),
                        cost(best)));
    }

    private static double cost(SweepRow row) {
        return row.figure(COST).map(SweepRow.Figure::mean).orElse(Double.POSITIVE_INFINITY);
    }

    /** Returns the table as text. */
    public String table(List<SweepRow> rows) {
        return Tables.text(rows, columns(rows)) + "\n"
                + cheapest(rows).map(line -> line + "\n").orElse("");
    }

    /** Returns the columns of the table. */
    List<ColumnData<SweepRow>> columns(List<SweepRow> rows) {
        var columns = new ArrayList<ColumnData<SweepRow>>();
        if (rows.stream().map(row -> row.point().scenario()).distinct().count() > 1) {
            columns.add(Tables.words("scenario", row -> row.point().scenario()));
        }
        for (String key : settings) {
            columns.add(Tables.words(key, row -> setting(row, key)));
        }
        if (rows.stream().anyMatch(row -> row.meetsSlo().isPresent())) {
            columns.add(Tables.words("slo", SweepColumns::verdict));
        }
        for (String key : figures) {
            columns.add(Tables.numbers(title(key), row -> number(row, key)));
        }
        var front = ParetoFront.of(rows);
        if (rows.size() > 1 && !front.isEmpty()) {
            columns.add(Tables.words("pareto", row -> front.contains(row) ? "*" : ""));
        }
        return columns;
    }

    /** Returns the short name of a figure. */
    static String title(String key) {
        return USUAL.getOrDefault(key, key);
    }

    private static String setting(SweepRow row, String key) {
        return row.point().settings().getOrDefault(key, "");
    }

    static String verdict(SweepRow row) {
        String kept = row.meetsSlo().map(isKept -> isKept ? "kept" : "missed").orElse("");
        return row.border()
                .map(border -> switch (border) {
                    case FOUND -> kept;
                    case BEYOND -> kept + ", and beyond";
                    case NOWHERE -> kept + " everywhere";
                })
                .orElse(kept);
    }

    /** With several seeds the half width of the confidence interval stands behind the mean. */
    private static String number(SweepRow row, String key) {
        var figure = row.figure(key);
        if (figure.isEmpty()) {
            return "";
        }
        double halfWidth = figure.get().halfWidth();
        return text(figure.get().mean()) + (Double.isNaN(halfWidth) ? "" : " +- " + text(halfWidth));
    }

    static String text(double number) {
        boolean isWhole = number == Math.rint(number) || Math.abs(number) >= NO_DECIMALS_FROM;
        return String.format(Locale.ROOT, isWhole ? "%.0f" : "%.2f", number);
    }
}
