package understudy.fidelity.cells;

import java.io.IOException;
import java.io.Writer;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.Stream;
import understudy.report.Figures;
import understudy.report.Result;
import understudy.report.html.Page;
import understudy.report.html.PageTables;

/** Measured cells beside their emulation. */
public final class CellComparison {
    private final List<String> latencyModels;
    private final List<CellRow> rows;
    private final List<Remark> contradicting;
    private final List<Remark> leftOut;
    private final List<Remark> assumed;
    private final List<Remark> sources;
    private final List<CellGroup> groups;

    /** Takes the rows, and what there is to say about those that are not among them. */
    CellComparison(List<String> latencyModels, List<CellRow> rows, MeasuredCells measured) {
        this.latencyModels = latencyModels;
        this.rows = rows;
        contradicting = measured.contradicting();
        leftOut = Stream.concat(measured.leftOut().stream(), rows.stream().flatMap(CellComparison::problems))
                .toList();
        assumed = Stream.concat(measured.assumed().stream(), rows.stream().flatMap(CellComparison::assumption))
                .toList();
        sources = rows.stream().flatMap(CellComparison::sources).toList();
        groups = CellGroup.of(compared(), latencyModels.size());
    }

    /** Returns the problems of a row; one that all latency models share is listed once. */
    private static Stream<Remark> problems(CellRow row) {
        boolean isOfAll = row.runs().stream().map(CellRun::problem).distinct().count() == 1;
        return row.runs().stream()
                .filter(run -> !run.hasRun())
                .map(run -> isOfAll ? run.problem() : run.latencyModel() + ": " + run.problem())
                .distinct()
                .map(reason -> new Remark(row.cell().lines(), row.setup().name(), reason));
    }

    private static Stream<Remark> assumption(CellRow row) {
        var kvCache = row.kvCache();
        return row.hasRun() && kvCache.isAssumed()
                ? Stream.of(new Remark(
                        row.cell().lines(),
                        row.setup().name(),
                        "KV cache " + kvCache.dtype() + ": " + kvCache.because()))
                : Stream.empty();
    }

    /** Returns where the times of a row's steps are from. */
    private static Stream<Remark> sources(CellRow row) {
        return row.runs().stream()
                .flatMap(run -> run.sources().stream())
                .distinct()
                .map(source -> new Remark(row.cell().lines(), row.setup().name(), source));
    }

    List<String> latencyModels() {
        return latencyModels;
    }

    List<CellRow> rows() {
        return rows;
    }

    /** Returns the rows of the figures. */
    List<CellRow> compared() {
        return rows.stream().filter(CellRow::isCompared).toList();
    }

    /** Returns the rows that were run, but are in no figure. */
    List<CellRow> shortOfKv() {
        return rows.stream().filter(CellRow::isShortOfKv).toList();
    }

    List<CellGroup> groups() {
        return groups;
    }

    /** Returns rows that cannot be true. */
    List<Remark> contradicting() {
        return contradicting;
    }

    List<Remark> leftOut() {
        return leftOut;
    }

    /** Returns what is assumed of rows that do not say it, or say something else. */
    List<Remark> assumed() {
        return assumed;
    }

    /** Returns where the times of steps are from, such as the version of a kernel's table, for each row. */
    List<Remark> sources() {
        return sources;
    }

    /**
     * Returns whether the mean absolute errors of the first latency model over all cells are within some limits, in
     * percent; nothing is within a limit if there are no cells.
     */
    public boolean isWithin(OptionalDouble maxTpotMape, OptionalDouble maxTtftMape) {
        var all = groups.isEmpty()
                ? CellErrors.of(List.of())
                : groups.get(0).errors().get(0);
        return isWithin(all.tpot().mean(), maxTpotMape) && isWithin(all.ttft().mean(), maxTtftMape);
    }

    private static boolean isWithin(double mape, OptionalDouble max) {
        return max.isEmpty() || mape <= max.getAsDouble();
    }

    /** Returns tables for people. */
    public String text() {
        return new CellTables(this).text();
    }

    /** Returns all of it as JSON. */
    public String json() {
        return new Result(CellJson.of(this)).indentedJson();
    }

    /** Writes a line for each run, with a header. */
    public void writeCsv(Writer out) throws IOException {
        CellCsv.write(this, out);
    }

    /**
     * Writes a page with a point for each run.
     *
     * @param facts about the comparison, by name
     */
    public void writePage(Map<String, String> facts, Writer out) throws IOException {
        var tables = new CellTables(this);
        var data = new Figures()
                .add("facts", Page.pairs(facts))
                .add("result", CellJson.of(this))
                .add("models", latencyModels)
                .add("errors", PageTables.of(groups, tables.groupColumns()))
                .add("cells", PageTables.of(compared(), tables.rowColumns()));
        if (!shortOfKv().isEmpty()) {
            data.add("short_of_kv", PageTables.of(shortOfKv(), tables.shortOfKvColumns()));
        }
        addRemarks(data, "contradicting", contradicting);
        addRemarks(data, "left_out", leftOut);
        addRemarks(data, "assumed", assumed);
        if (!sources.isEmpty()) {
            data.add("sources", PageTables.of(CellTables.byText(sources), CellTables.sourceColumns()));
        }
        new Page("Measured and emulated", "understudy/fidelity/cells/cells.html", data, main()).write(out);
    }

    private static void addRemarks(Figures data, String key, List<Remark> remarks) {
        if (!remarks.isEmpty()) {
            data.add(key, PageTables.of(CellTables.byText(remarks), CellTables.remarkColumns()));
        }
    }

    /** Returns the errors of each latency model over all cells. */
    private Figures main() {
        var main = new Figures();
        for (int i = 0; i < latencyModels.size() && !groups.isEmpty(); i++) {
            groups.get(0).errors().get(i).addTo(main.addObject(latencyModels.get(i)));
        }
        return main;
    }

    /** Returns the runs of some rows with one latency model. */
    static List<CellRun> runs(List<CellRow> rows, int latencyModel) {
        return rows.stream()
                .map(row -> row.runs().get(latencyModel))
                .filter(CellRun::hasRun)
                .toList();
    }
}
