package understudy.fidelity;

import com.github.freva.asciitable.ColumnData;
import java.io.IOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import understudy.fidelity.ResultFile.RequestTimes;
import understudy.report.html.HtmlChart;
import understudy.report.html.HtmlPage;
import understudy.report.html.HtmlSection;
import understudy.report.html.HtmlSeries;
import understudy.report.html.Quantiles;

/** Page of a comparison: the table, bars of the percentiles that both have, and quantiles where both have their requests. */
final class ComparisonPage {
    private static final double NANOS_PER_MILLI = 1e6;
    private static final List<String> METRICS = List.of("ttft", "tpot", "itl", "e2el");
    private static final List<String> STATISTICS = List.of("mean", "median", "p90", "p95", "p99");

    private final ResultFile real;
    private final ResultFile emulated;

    ComparisonPage(ResultFile real, ResultFile emulated) {
        this.real = real;
        this.emulated = emulated;
    }

    <T> void write(boolean isWithin, boolean hasTolerances, Collection<T> rows, List<ColumnData<T>> columns, Writer out)
            throws IOException {
        var page = new HtmlPage("Real and emulated").fact("Real", real.kind()).fact("Emulated", emulated.kind());
        if (hasTolerances) {
            page.verdict(
                    isWithin ? HtmlPage.Verdict.GOOD : HtmlPage.Verdict.BAD,
                    isWithin ? "All figures are within their tolerance." : "Some figures are beyond their tolerance.");
        }
        page.section(new HtmlSection("figures-both", "Figures").table("", rows, columns));
        page.section(new HtmlSection("percentiles", "Percentiles").charts(bars()));
        if (!real.requests().isEmpty() && !emulated.requests().isEmpty()) {
            page.section(new HtmlSection("quantiles", "All requests").charts(quantiles()));
        }
        page.write(out);
    }

    private HtmlChart[] bars() {
        var charts = new ArrayList<HtmlChart>();
        for (String metric : METRICS) {
            var both = STATISTICS.stream()
                    .filter(each -> has(real, each, metric) && has(emulated, each, metric))
                    .toList();
            if (!both.isEmpty()) {
                charts.add(bars(metric, both));
            }
        }
        return charts.toArray(HtmlChart[]::new);
    }

    private static boolean has(ResultFile file, String statistic, String metric) {
        return file.metrics().containsKey(key(statistic, metric));
    }

    private static String key(String statistic, String metric) {
        return statistic + "_" + metric + "_ms";
    }

    private HtmlChart bars(String metric, List<String> statistics) {
        String title = metric.toUpperCase(Locale.ROOT);
        return new HtmlChart(
                metric + "-bars",
                title,
                HtmlChart.Kind.BARS,
                new HtmlChart.Axis("", ""),
                new HtmlChart.Axis(title, "ms"),
                List.of(
                        HtmlSeries.bars("real", HtmlSeries.color(0), values(real.metrics(), statistics, metric)),
                        HtmlSeries.bars(
                                "emulated", HtmlSeries.color(1), values(emulated.metrics(), statistics, metric))),
                statistics);
    }

    private static double[] values(Map<String, Double> metrics, List<String> statistics, String metric) {
        return statistics.stream()
                .mapToDouble(each -> metrics.getOrDefault(key(each, metric), Double.NaN))
                .toArray();
    }

    private HtmlChart[] quantiles() {
        return new HtmlChart[] {
            quantiles("ttft", RequestTimes::ttftMillis),
            quantiles("tpot", RequestTimes::tpotMillis),
            quantiles("e2el", RequestTimes::e2elMillis)
        };
    }

    private HtmlChart quantiles(String metric, ToDoubleFunction<RequestTimes> millis) {
        return Quantiles.chart(
                metric + "-quantiles",
                metric.toUpperCase(Locale.ROOT),
                Quantiles.Latencies.of("real", nanos(real, millis)),
                Quantiles.Latencies.of("emulated", nanos(emulated, millis)));
    }

    private static DoubleStream nanos(ResultFile file, ToDoubleFunction<RequestTimes> millis) {
        return file.requests().values().stream()
                .mapToDouble(millis)
                .filter(Double::isFinite)
                .map(each -> each * NANOS_PER_MILLI);
    }
}
