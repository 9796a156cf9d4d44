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
import java.util.stream.Stream;
import understudy.report.Figures;
import understudy.report.html.Curve;
import understudy.report.html.Page;
import understudy.report.html.PageTables;

/**
 * Page of a sweep: its table, and the pictures that its settings allow: lines over a setting of numbers, a map of two
 * settings, the values that a search has found, and the Pareto front.
 */
public final class SweepPage {
    private static final int MIN_POINTS = 3;
    private static final int MAX_SERIES = 12;

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
        var data = new Figures()
                .add("title", title)
                .add("verdicts", verdicts())
                .add("facts", Page.pairs(facts))
                .add("rows", PageTables.of(rows, columns.columns(rows)));
        addFound(data);
        addLines(data);
        addMaps(data);
        addFront(data);
        new Page(title, "understudy/sweep/sweep.html", data, main()).write(out);
    }

    /** Returns the figures of the table, row by row. */
    private Figures main() {
        var main = new Figures();
        for (var row : rows) {
            var of = main.addObject(row.point().name());
            columns.figures().forEach(key -> row.figure(key).ifPresent(figure -> of.add(key, figure.mean())));
        }
        return main;
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

    private List<Figures> verdicts() {
        var best = SweepColumns.cheapest(rows).map(line -> verdict(true, line)).stream();
        var found = rows.stream()
                .flatMap(row -> row
                        .border()
                        .map(border -> verdict(
                                border != SweepRow.Border.NOWHERE,
                                row.point().name() + ": " + SweepColumns.verdict(row)))
                        .stream());
        return Stream.concat(best, found).toList();
    }

    private static Figures verdict(boolean isGood, String text) {
        return new Figures().add("good", isGood).add("text", text);
    }

    /** Adds the values that searches have found. */
    private void addFound(Figures data) {
        if (rows.size() < 2 || rows.stream().allMatch(row -> row.border().isEmpty())) {
            return;
        }
        double[] values = rows.stream()
                .mapToDouble(
                        row -> row.border().equals(Optional.of(SweepRow.Border.NOWHERE)) ? 0 : axes.lastNumber(row))
                .toArray();
        data.add(
                "found",
                List.of(new Figures()
                        .add("name", "found")
                        .add("title", axes.last() + " that keeps the service level")
                        .add("y", axes.last())
                        .add("labels", rows.stream().map(axes::nameWithoutLast).toList())
                        .add("series", List.of(Curve.bars(axes.last(), values)))));
    }

    /** Adds maps of two settings that vary alone, one for each figure. */
    private void addMaps(Figures data) {
        if (!axes.areTwo()) {
            return;
        }
        data.addObject("maps")
                .add("title", axes.key(0) + " and " + axes.key(1))
                .add("corner", axes.key(0) + " down, " + axes.key(1) + " across")
                .add("figures", drawn().stream().map(this::map).toList());
    }

    private Figures map(String figure) {
        return new Figures()
                .add("title", SweepColumns.title(figure))
                .add("first", axes.values(0))
                .add("second", axes.values(1))
                .add(
                        "numbers",
                        axes.values(0).stream()
                                .map(first -> axes.values(1).stream()
                                        .map(second -> axes.row(rows, first, second)
                                                .flatMap(row -> row.figure(figure))
                                                .map(SweepRow.Figure::mean)
                                                .orElse(null))
                                        .toList())
                                .toList());
    }

    /** Adds each figure over the setting with the most numbers, a line for each combination of the others. */
    private void addLines(Figures data) {
        var key = axes.longestOfNumbers();
        if (key.isEmpty() || axes.numbers(key.get()).length < MIN_POINTS) {
            return;
        }
        Map<String, List<SweepRow>> byName = rows.stream()
                .filter(row -> row.point().settings().containsKey(key.get()))
                .collect(Collectors.groupingBy(
                        row -> axes.nameWithout(row, key.get()), LinkedHashMap::new, Collectors.toList()));
        data.addObject("lines")
                .add("key", key.get())
                .add("combinations", byName.size() > MAX_SERIES ? byName.size() : null)
                .add(
                        "figures",
                        drawn().stream()
                                .map(figure -> new Figures()
                                        .add("title", SweepColumns.title(figure))
                                        .add("series", series(byName, key.get(), figure)))
                                .toList());
    }

    private static List<Figures> series(Map<String, List<SweepRow>> byName, String key, String figure) {
        return byName.entrySet().stream()
                .limit(MAX_SERIES)
                .map(entry -> series(entry.getKey(), entry.getValue(), key, figure))
                .toList();
    }

    private static Figures series(String name, List<SweepRow> rows, String key, String figure) {
        var drawn = rows.stream()
                .filter(row -> row.figure(figure).isPresent())
                .sorted(Comparator.comparingDouble(row -> SweepAxes.number(row, key)))
                .toList();
        return Curve.of(
                name,
                drawn.stream().mapToDouble(row -> SweepAxes.number(row, key)).toArray(),
                values(drawn, figure));
    }

    private void addFront(Figures data) {
        var front = ParetoFront.of(rows);
        if (rows.size() < 2 || front.isEmpty()) {
            return;
        }
        var others = new ArrayList<>(rows);
        others.removeIf(
                row -> front.contains(row) || row.figure(ParetoFront.PER_USER).isEmpty());
        data.addObject("front")
                .add("front", perUserAndGpu(front))
                .add("others", perUserAndGpu(others))
                .add("names", front.stream().map(row -> row.point().name()).toList());
    }

    private static Figures perUserAndGpu(List<SweepRow> rows) {
        return Curve.of(values(rows, ParetoFront.PER_USER), values(rows, ParetoFront.PER_GPU));
    }

    private static double[] values(List<SweepRow> rows, String key) {
        return rows.stream()
                .mapToDouble(row -> row.figure(key).orElseThrow().mean())
                .toArray();
    }
}
