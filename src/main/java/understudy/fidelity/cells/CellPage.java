package understudy.fidelity.cells;

import java.io.IOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import understudy.report.html.HtmlChart;
import understudy.report.html.HtmlPage;
import understudy.report.html.HtmlSection;
import understudy.report.html.HtmlSeries;

/** Page of a comparison: a point for each cell, measured against emulated, and the tables. */
final class CellPage {
    private final CellComparison comparison;
    private final CellTables tables;

    CellPage(CellComparison comparison) {
        this.comparison = comparison;
        tables = new CellTables(comparison);
    }

    void write(Map<String, String> facts, Writer out) throws IOException {
        var page = new HtmlPage("Measured and emulated");
        facts.forEach(page::fact);
        page.section(new HtmlSection("points", "All cells").charts(charts()));
        page.section(new HtmlSection("means", "Mean errors").table("", comparison.groups(), tables.groupColumns()));
        page.section(new HtmlSection("cells", "Cells").table("", comparison.compared(), tables.rowColumns()));
        if (!comparison.shortOfKv().isEmpty()) {
            page.section(new HtmlSection("short", "Short of KV memory, in no mean")
                    .table("", comparison.shortOfKv(), tables.rowColumns()));
        }
        if (!comparison.leftOut().isEmpty()) {
            page.section(
                    new HtmlSection("left-out", "Left out").table("", tables.reasons(), CellTables.reasonColumns()));
        }
        page.write(out);
    }

    private HtmlChart[] charts() {
        var charts = new ArrayList<HtmlChart>();
        for (int i = 0; i < comparison.latencyModels().size(); i++) {
            charts.add(chart("tpot", i, run -> run.cell().tpotMillis(), CellRun::tpotMillis));
            charts.add(chart("ttft", i, run -> run.cell().ttftMillis(), CellRun::ttftMillis));
        }
        return charts.toArray(HtmlChart[]::new);
    }

    private HtmlChart chart(
            String metric, int latencyModel, ToDoubleFunction<CellRun> measured, ToDoubleFunction<CellRun> emulated) {
        Map<String, List<CellRun>> byModel = CellComparison.runs(comparison.compared(), latencyModel).stream()
                .collect(Collectors.groupingBy(
                        run -> run.cell().setup().shortModel(), TreeMap::new, Collectors.toList()));
        var series = new ArrayList<HtmlSeries>();
        byModel.forEach((model, runs) -> series.add(HtmlSeries.line(
                model,
                HtmlSeries.color(series.size()),
                runs.stream().mapToDouble(measured).toArray(),
                runs.stream().mapToDouble(emulated).toArray())));
        return new HtmlChart(
                metric + "-" + latencyModel,
                metric.toUpperCase(Locale.ROOT) + ", "
                        + comparison.latencyModels().get(latencyModel),
                HtmlChart.Kind.POINTS,
                new HtmlChart.Axis("measured " + metric.toUpperCase(Locale.ROOT), "ms"),
                new HtmlChart.Axis("emulated " + metric.toUpperCase(Locale.ROOT), "ms"),
                series,
                List.of());
    }
}
