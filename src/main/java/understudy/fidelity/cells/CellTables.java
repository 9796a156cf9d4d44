package understudy.fidelity.cells;

import com.github.freva.asciitable.ColumnData;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import understudy.report.Tables;

/** Tables of a comparison, for the console and for pages. */
record CellTables(CellComparison comparison) {
    private static final int MAX_NAMES = 3;

    /** Rows of which the same is said. */
    record Remarks(String text, List<Remark> rows) {
        long numLines() {
            return rows.stream().mapToLong(row -> row.lines().size()).sum();
        }

        /** Returns the names of the first ones. */
        String names() {
            var names = rows.stream().map(Remark::name).distinct().toList();
            String first = names.stream().limit(MAX_NAMES).collect(Collectors.joining("; "));
            return names.size() > MAX_NAMES ? first + "; and " + (names.size() - MAX_NAMES) + " others" : first;
        }

        /** Returns the first lines of the file. */
        String lines() {
            var lines =
                    rows.stream().flatMap(row -> row.lines().stream()).sorted().toList();
            String first = lines.stream().limit(MAX_NAMES).map(String::valueOf).collect(Collectors.joining(", "));
            return lines.size() > MAX_NAMES ? first + ", …" : first;
        }
    }

    String text() {
        return table("", comparison.compared(), rowColumns())
                + table("Short of KV memory, in no figure:\n", comparison.shortOfKv(), shortOfKvColumns())
                + table("Contradicting, in no figure:\n", byText(comparison.contradicting()), remarkColumns())
                + table("Left out:\n", byText(comparison.leftOut()), remarkColumns())
                + table("Assumed:\n", byText(comparison.assumed()), remarkColumns())
                + table("Times of steps:\n", byText(comparison.sources()), sourceColumns())
                + table("Errors:\n", comparison.groups(), groupColumns());
    }

    private static <T> String table(String heading, List<T> rows, List<ColumnData<T>> columns) {
        return rows.isEmpty() ? "" : heading + Tables.text(rows, columns) + "\n";
    }

    static List<Remarks> byText(List<Remark> remarks) {
        Map<String, List<Remark>> byText =
                remarks.stream().collect(Collectors.groupingBy(Remark::text, LinkedHashMap::new, Collectors.toList()));
        return byText.entrySet().stream()
                .map(entry -> new Remarks(entry.getKey(), entry.getValue()))
                .toList();
    }

    static List<ColumnData<Remarks>> remarkColumns() {
        var columns = new ArrayList<>(sourceColumns());
        columns.add(Tables.words("cells", Remarks::names));
        return columns;
    }

    /** Names of cells would make the many sources of a table hard to read. */
    static List<ColumnData<Remarks>> sourceColumns() {
        return List.of(
                Tables.counts("rows", Remarks::numLines),
                Tables.words("what", Remarks::text),
                Tables.words("lines", Remarks::lines));
    }

    List<ColumnData<CellRow>> shortOfKvColumns() {
        var columns = new ArrayList<>(rowColumns());
        columns.add(Tables.words("judged by", CellRow::shortOfKvBy));
        return columns;
    }

    List<ColumnData<CellRow>> rowColumns() {
        var columns = new ArrayList<ColumnData<CellRow>>(List.of(
                Tables.words("model", row -> row.setup().shortModel()),
                Tables.words("GPU", row -> row.setup().gpu()),
                Tables.words("version", row -> row.setup().version()),
                Tables.words("weights", row -> row.setup().formats()),
                Tables.words("KV cache", row -> row.kvCache().text()),
                Tables.words("layout", row -> row.setup().parallelism()),
                Tables.counts("isl", row -> row.setup().inputTokens()),
                Tables.counts("osl", row -> row.setup().outputTokens()),
                Tables.counts("concurrency", row -> row.setup().concurrency())));
        addTimes(columns, "TPOT", row -> row.cell().tpotMillis(), CellRun::tpotMillis, CellRun::tpotErrorPercent);
        addTimes(columns, "TTFT", row -> row.cell().ttftMillis(), CellRun::ttftMillis, CellRun::ttftErrorPercent);
        return columns;
    }

    private void addTimes(
            List<ColumnData<CellRow>> columns,
            String metric,
            ToDoubleFunction<CellRow> measured,
            ToDoubleFunction<CellRun> emulated,
            ToDoubleFunction<CellRun> error) {
        columns.add(Tables.decimals(metric + " ms", "%.2f", measured));
        for (int i = 0; i < comparison.latencyModels().size(); i++) {
            int model = i;
            columns.add(decimals(
                    comparison.latencyModels().get(i),
                    "%.2f",
                    row -> emulated.applyAsDouble(row.runs().get(model))));
            columns.add(decimals(
                    "error", "%+.1f %%", row -> error.applyAsDouble(row.runs().get(model))));
        }
    }

    /** Returns a column of numbers, which is empty where there is none. */
    private static <T> ColumnData<T> decimals(String header, String format, ToDoubleFunction<T> value) {
        return Tables.numbers(header, row -> {
            double number = value.applyAsDouble(row);
            return Double.isNaN(number) ? "" : String.format(Locale.ROOT, format, number);
        });
    }

    List<ColumnData<CellGroup>> groupColumns() {
        var columns = new ArrayList<ColumnData<CellGroup>>(
                List.of(Tables.words("by", CellGroup::by), Tables.words("", CellGroup::name)));
        for (int i = 0; i < comparison.latencyModels().size(); i++) {
            addErrors(columns, comparison.latencyModels().get(i), i);
        }
        return columns;
    }

    private static void addErrors(List<ColumnData<CellGroup>> columns, String name, int model) {
        columns.add(Tables.counts(
                name + ", cells", group -> group.errors().get(model).numCells()));
        addSpread(columns, "TPOT", group -> group.errors().get(model).tpot());
        addSpread(columns, "TTFT", group -> group.errors().get(model).ttft());
    }

    private static void addSpread(
            List<ColumnData<CellGroup>> columns, String metric, Function<CellGroup, CellErrors.Spread> spread) {
        columns.add(decimals(
                metric + " median", "%.1f %%", group -> spread.apply(group).median()));
        columns.add(decimals("mean", "%.1f %%", group -> spread.apply(group).mean()));
        columns.add(decimals("p90", "%.1f %%", group -> spread.apply(group).p90()));
        columns.add(decimals("bias", "%+.1f %%", group -> spread.apply(group).bias()));
    }
}
