package understudy.fidelity;

import com.github.freva.asciitable.ColumnData;
import java.io.IOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Collectors;
import understudy.fidelity.Fidelity.Figure;
import understudy.report.Figures;
import understudy.report.Result;
import understudy.report.Tables;
import understudy.report.html.PageTables;
import understudy.settings.ScenarioException;

/** Two results of benchmarks or runs side by side: every figure that both have, and request by request if both can. */
public final class ResultComparison {
    private final ResultFile real;
    private final ResultFile emulated;
    private final List<Row> rows;
    private final RequestDifferences requests;

    /** A figure of both, and by how much it may differ. */
    private record Row(Figure figure, OptionalDouble tolerancePercent) {

        boolean isBeyond() {
            return tolerancePercent.isPresent() && Math.abs(figure.errorPercent()) > tolerancePercent.getAsDouble();
        }

        String verdict() {
            if (tolerancePercent.isEmpty()) {
                return "";
            }
            String limit = String.format(Locale.ROOT, "%.1f %%", tolerancePercent.getAsDouble());
            return isBeyond() ? limit + " exceeded" : limit;
        }
    }

    private ResultComparison(ResultFile real, ResultFile emulated, Tolerances tolerances) {
        this.real = real;
        this.emulated = emulated;
        rows = new ArrayList<>();
        real.metrics().forEach((name, value) -> {
            var other = emulated.metrics().get(name);
            if (other != null) {
                rows.add(new Row(new Figure(name, value, other), tolerances.percentOf(name)));
            }
        });
        tolerances.requireKnown(
                rows.stream().map(row -> row.figure.name()).collect(Collectors.toCollection(LinkedHashSet::new)));
        requests = RequestDifferences.of(real.requests(), emulated.requests());
    }

    /**
     * Reads two files and compares them.
     *
     * @throws ScenarioException if one of them is no result, or a tolerance is for no metric of both
     */
    public static ResultComparison of(String real, String emulated, Tolerances tolerances) {
        return new ResultComparison(ResultFile.read(real), ResultFile.read(emulated), tolerances);
    }

    /** Returns whether every figure is within its tolerance. */
    public boolean isWithin() {
        return rows.stream().noneMatch(Row::isBeyond);
    }

    /** Returns tables for people. */
    public String text() {
        return "Real: " + real.kind() + ", emulated: " + emulated.kind() + "\n" + Tables.text(rows, columns()) + "\n"
                + requests.text();
    }

    private static List<ColumnData<Row>> columns() {
        return List.of(
                Tables.words("", row -> row.figure.name()),
                Tables.decimals("Real", "%.2f", row -> row.figure.measured()),
                Tables.decimals("Emulated", "%.2f", row -> row.figure.emulated()),
                Tables.decimals("Difference", "%+.1f %%", row -> row.figure.errorPercent()),
                Tables.words("Tolerance", Row::verdict));
    }

    /** Writes a page with the tables as pictures. */
    public void writePage(Writer out) throws IOException {
        boolean hasTolerances = rows.stream().anyMatch(row -> row.tolerancePercent.isPresent());
        var data = new Figures()
                .add("result", figures())
                .add("within", hasTolerances && isWithin())
                .add("beyond", hasTolerances && !isWithin())
                .add("figures", PageTables.of(rows, columns()));
        new ComparisonPage(real, emulated).write(data, out);
    }

    /**
     * Returns the same as JSON.
     *
     * @param causes of the differences, if they were looked for
     */
    public String json(Optional<DifferenceCauses> causes) {
        var figures = figures();
        causes.ifPresent(found -> figures.add("causes", found.figures()));
        return new Result(figures).indentedJson();
    }

    private Figures figures() {
        return new Figures()
                .add("real", real.kind())
                .add("emulated", emulated.kind())
                .add("within_tolerance", isWithin())
                .add("metrics", rows.stream().map(ResultComparison::figures).toList())
                .add("compared_requests", requests.numPairs())
                .add("different_lengths", requests.numDifferentLengths())
                .add(
                        "requests",
                        requests.differences().stream()
                                .map(each -> new Figures()
                                        .add("metric", each.metric())
                                        .add("pairs", each.pairs())
                                        .add("real_mean_ms", each.realMeanMs())
                                        .add("emulated_mean_ms", each.emulatedMeanMs())
                                        .add("mean_absolute_ms", each.meanAbsoluteMs())
                                        .add("p99_absolute_ms", each.p99AbsoluteMs()))
                                .toList());
    }

    /** A percentage of nothing is null. */
    private static Figures figures(Row row) {
        double error = row.figure.errorPercent();
        return new Figures()
                .add("name", row.figure.name())
                .add("real", row.figure.measured())
                .add("emulated", row.figure.emulated())
                .add("difference_percent", Double.isFinite(error) ? error : null)
                .add("tolerance_percent", row.tolerancePercent.isPresent() ? row.tolerancePercent.getAsDouble() : null)
                .add("within", !row.isBeyond());
    }
}
