package understudy.fidelity.cells;

import com.github.freva.asciitable.ColumnData;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import understudy.report.Tables;

/** Tables of a comparison, for the console and for pages. */
record CellTables(CellComparison comparison) {
    private static final int MAX_NAMES = 3;

    /** Rows that are left out for the same reason. */
    record Reason(String reason, List<LeftOut> rows) {
        long numLines() {
            return rows.stream().mapToLong(row -> row.lines().size()).sum();
        }

        /** Returns the names of the first ones. */
        String names() {
            var names = rows.stream().map(LeftOut::name).distinct().toList();
            String first = names.stream().limit(MAX_NAMES).collect(Collectors.joining("; "));
            return names.size() > MAX_NAMES ? first + "; and " + (names.size() - MAX_NAMES) + " others" : first;
        }
    }

    String text() {
        return table("", comparison.compared(), rowColumns())
                + table("Short of KV memory, in no mean:\n", comparison.shortOfKv(), rowColumns())
                + table("Left out:\n", reasons(), reasonColumns())
                + table("Mean errors:\n", comparison.groups(), groupColumns());
    }

    private static <T> String table(String heading, List<T> rows, List<ColumnData<T>> columns) {
        return rows.isEmpty() ? "" : heading + Tables.text(rows, columns) + "\n";
    }

    List<Reason> reasons() {
        Map<String, List<LeftOut>> byReason = comparison.leftOut().stream()
                .collect(Collectors.groupingBy(LeftOut::reason, LinkedHashMap::new, Collectors.toList()));
        return byReason.entrySet().stream()
                .map(entry -> new Reason(entry.getKey(), entry.getValue()))
                .toList();
    }

    static List<ColumnData<Reason>> reasonColumns() {
        return List.of(
                Tables.counts("rows", Reason::numLines),
                Tables.words("why", Reason::reason),
                Tables.words("what", Reason::names));
    }

    List<ColumnData<CellRow>> rowColumns() {
        var columns = new ArrayList<ColumnData<CellRow>>(List.of(
                Tables.words("model", row -> row.setup().shortModel()),
                Tables.words("GPU", row -> row.setup().gpu()),
                Tables.words("version", row -> row.setup().version()),
                Tables.words("GPUs", row -> row.setup().parallelism()),
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
        columns.add(
                decimals("TPOT", "%.1f %%", group -> group.errors().get(model).tpotMape()));
        columns.add(
                decimals("bias", "%+.1f %%", group -> group.errors().get(model).tpotBias()));
        columns.add(
                decimals("TTFT", "%.1f %%", group -> group.errors().get(model).ttftMape()));
        columns.add(
                decimals("bias", "%+.1f %%", group -> group.errors().get(model).ttftBias()));
    }
}
