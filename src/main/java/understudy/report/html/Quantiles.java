package understudy.report.html;

import it.unimi.dsi.fastutil.doubles.DoubleList;
import java.util.Arrays;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import understudy.report.latency.LatencyStats;

/** Chart of how many latencies are below which: a line through their percentiles, in steps of a half. */
public final class Quantiles {
    private static final double[] PERCENTS =
            IntStream.rangeClosed(0, 200).mapToDouble(i -> i / 2.0).toArray();
    private static final HtmlChart.Axis REQUESTS = new HtmlChart.Axis("requests below", "%");

    private Quantiles() {}

    /**
     * Latencies that share a line.
     *
     * @param nanos in any order
     */
    public record Latencies(String name, DoubleList nanos) {
        public static Latencies of(String name, DoubleStream nanos) {
            return new Latencies(name, DoubleList.of(nanos.toArray()));
        }
    }

    /** Returns a chart of latencies in the unit that suits the longest of them. */
    public static HtmlChart chart(String id, String quantity, Latencies... lines) {
        var unit = LatencyUnit.of(Arrays.stream(lines)
                .flatMapToDouble(each -> each.nanos.doubleStream())
                .toArray());
        var series = IntStream.range(0, lines.length)
                .mapToObj(i -> line(lines[i], HtmlSeries.color(i), unit))
                .toList();
        return HtmlChart.lines(id, quantity, unit.axis(quantity), REQUESTS, series);
    }

    private static HtmlSeries line(Latencies latencies, String color, LatencyUnit unit) {
        double[] xs = unit.convert(LatencyStats.percentiles(latencies.nanos.toDoubleArray(), PERCENTS));
        return HtmlSeries.line(latencies.name, color, xs, xs.length == 0 ? xs : PERCENTS);
    }
}
