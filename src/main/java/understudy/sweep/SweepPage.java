package understudy.sweep;

import java.io.IOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import understudy.report.html.HtmlChart;
import understudy.report.html.HtmlPage;
import understudy.report.html.HtmlSection;
import understudy.report.html.HtmlSeries;

/**
 * Page of a sweep: its table, and the pictures that its settings allow: lines over a setting of numbers, a map of two
 * settings, the values that a search has found, and the Pareto front.
 */
public final class SweepPage {
    private static final int MIN_POINTS = 3;
    private static final int MAX_SERIES = 12;
    private static final HtmlChart.Axis NO_UNIT = new HtmlChart.Axis("", "");

    private final List<SweepRow> rows;
    private final SweepColumns columns;
    private final SweepAxes axes;

    /** @param columns of the table; its figures are those of the pictures, too */
    public SweepPage(List<SweepRow> rows, SweepColumns columns) {
        this.rows = rows;
        this.columns = columns;
        axes = SweepAxes.of(rows);
    }

    /**
     * Writes the page.
     *
     * @param facts about the sweep, by name
     */
    public void write(String title, Map<String, String> facts, Writer out) throws IOException {
        var page = new HtmlPage(title);
        verdicts(page);
        facts.forEach(page::fact);
        page.section(new HtmlSection("rows", "All combinations").table("", rows, columns.columns(rows)));
        found().ifPresent(page::section);
        lines().ifPresent(page::section);
        maps().ifPresent(page::section);
        front().ifPresent(page::section);
        page.write(out);
    }

    /** Returns the figures that are not the same in all rows. */
    private List<String> drawn() {
        return columns.figures().stream()
                .filter(figure -> rows.stream()
                                .flatMap(row -> row.figure(figure).stream())
                                .mapToDouble(SweepRow.Figure::mean)
                                .distinct()
                                .count()
                        > 1)
                .toList();
    }

    private void verdicts(HtmlPage page) {
        SweepColumns.cheapest(rows).ifPresent(line -> page.verdict(HtmlPage.Verdict.GOOD, line));
        for (var row : rows) {
            row.border()
                    .ifPresent(border -> page.verdict(
                            border == SweepRow.Border.NOWHERE ? HtmlPage.Verdict.BAD : HtmlPage.Verdict.GOOD,
                            row.point().name() + ": " + SweepColumns.verdict(row)));
        }
    }

    /** Draws the values that searches have found, side by side. */
    private Optional<HtmlSection> found() {
        if (rows.size() < 2 || rows.stream().allMatch(row -> row.border().isEmpty())) {
            return Optional.empty();
        }
        var labels = rows.stream().map(axes::nameWithoutLast).toList();
        var values = rows.stream()
                .mapToDouble(
                        row -> row.border().equals(Optional.of(SweepRow.Border.NOWHERE)) ? 0 : axes.lastNumber(row))
                .toArray();
        var chart = new HtmlChart(
                "found",
                axes.last() + " that keeps the service level",
                HtmlChart.Kind.BARS,
                NO_UNIT,
                new HtmlChart.Axis(axes.last(), ""),
                List.of(HtmlSeries.bars(axes.last(), HtmlSeries.color(0), values)),
                labels);
        return Optional.of(new HtmlSection("search", "What the search has found")
                .paragraph("0: nothing in the range keeps the level.")
                .charts(chart));
    }

    /** Maps two settings that vary alone, one figure each. */
    private Optional<HtmlSection> maps() {
        if (!axes.areTwo()) {
            return Optional.empty();
        }
        var section = new HtmlSection("maps", axes.key(0) + " and " + axes.key(1));
        for (String figure : drawn()) {
            var cells = new ArrayList<List<String>>();
            var numbers = new ArrayList<double[]>();
            for (String first : axes.values(0)) {
                var line = axes.values(1).stream()
                        .map(second -> axes.row(rows, first, second).flatMap(row -> row.figure(figure)))
                        .toList();
                cells.add(line.stream()
                        .map(found -> found.map(each -> SweepColumns.text(each.mean()))
                                .orElse(""))
                        .toList());
                numbers.add(line.stream()
                        .mapToDouble(found -> found.map(SweepRow.Figure::mean).orElse(Double.NaN))
                        .toArray());
            }
            section.map(
                    SweepColumns.title(figure),
                    axes.key(0) + " down, " + axes.key(1) + " across",
                    axes.values(0),
                    axes.values(1),
                    cells,
                    numbers);
        }
        return Optional.of(section);
    }

    /** Draws each figure over the setting with the most numbers, a line for each combination of the others. */
    private Optional<HtmlSection> lines() {
        var key = axes.longestOfNumbers();
        if (key.isEmpty() || axes.numbers(key.get()).length < MIN_POINTS) {
            return Optional.empty();
        }
        Map<String, List<SweepRow>> byName = rows.stream()
                .filter(row -> row.point().settings().containsKey(key.get()))
                .collect(Collectors.groupingBy(
                        row -> axes.nameWithout(row, key.get()), LinkedHashMap::new, Collectors.toList()));
        var section = new HtmlSection("lines", "By " + key.get());
        if (byName.size() > MAX_SERIES) {
            section.paragraph("The first " + MAX_SERIES + " of " + byName.size() + " combinations are drawn.");
        }
        var charts = new ArrayList<HtmlChart>();
        for (String figure : drawn()) {
            charts.add(HtmlChart.lines(
                    "line-" + charts.size(),
                    SweepColumns.title(figure),
                    new HtmlChart.Axis(key.get(), ""),
                    new HtmlChart.Axis(SweepColumns.title(figure), ""),
                    series(byName, key.get(), figure)));
        }
        return Optional.of(section.charts(charts.toArray(HtmlChart[]::new)));
    }

    private static List<HtmlSeries> series(Map<String, List<SweepRow>> byName, String key, String figure) {
        var series = new ArrayList<HtmlSeries>();
        for (var entry : byName.entrySet()) {
            if (series.size() < MAX_SERIES) {
                series.add(series(entry.getKey(), HtmlSeries.color(series.size()), entry.getValue(), key, figure));
            }
        }
        return series;
    }

    private static HtmlSeries series(String name, String color, List<SweepRow> rows, String key, String figure) {
        var drawn = rows.stream()
                .filter(row -> row.figure(figure).isPresent())
                .sorted(Comparator.comparingDouble(row -> SweepAxes.number(row, key)))
                .toList();
        return HtmlSeries.line(
                name,
                color,
                drawn.stream().mapToDouble(row -> SweepAxes.number(row, key)).toArray(),
                drawn.stream()
                        .mapToDouble(row -> row.figure(figure).orElseThrow().mean())
                        .toArray());
    }

    private Optional<HtmlSection> front() {
        var front = ParetoFront.of(rows);
        if (rows.size() < 2 || front.isEmpty()) {
            return Optional.empty();
        }
        var chart = HtmlChart.lines(
                "pareto",
                "Tokens per second of a user and of a GPU",
                new HtmlChart.Axis("tokens/s/user", ""),
                new HtmlChart.Axis("tokens/s/GPU", ""),
                List.of(points("front", 0, front), points("others", 1, others(front))));
        return Optional.of(new HtmlSection("front", "Pareto front")
                .charts(chart)
                .list(front.stream().map(row -> row.point().name()).toList()));
    }

    private List<SweepRow> others(List<SweepRow> front) {
        return rows.stream()
                .filter(row ->
                        !front.contains(row) && row.figure(ParetoFront.PER_USER).isPresent())
                .toList();
    }

    private static HtmlSeries points(String name, int color, List<SweepRow> rows) {
        return HtmlSeries.line(
                name, HtmlSeries.color(color), values(rows, ParetoFront.PER_USER), values(rows, ParetoFront.PER_GPU));
    }

    private static double[] values(List<SweepRow> rows, String key) {
        return rows.stream()
                .mapToDouble(row -> row.figure(key).orElseThrow().mean())
                .toArray();
    }
}
