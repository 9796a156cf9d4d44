package understudy.report.html;

import java.util.Arrays;
import java.util.stream.IntStream;
import understudy.report.latency.LatencyStats;

/** Chart of how many values are below which: a line through their percentiles. */
public final class Quantiles {
    private static final double[] PERCENTS =
            IntStream.rangeClosed(0, 200).mapToDouble(i -> i / 2.0).toArray();

    private Quantiles() {}

    /** Returns the axis of values, with a unit, to go with the lines. */
    public static HtmlChart chart(String id, String title, String unit, HtmlSeries... lines) {
        return HtmlChart.lines(
                id, title, new HtmlChart.Axis(title, unit), new HtmlChart.Axis("requests", "%"), Arrays.asList(lines));
    }

    /** Returns a line through the percentiles from 0 to 100, in steps of a half; nothing if there are no values. */
    public static HtmlSeries line(String name, int color, double[] values) {
        double[] xs = LatencyStats.percentiles(values, PERCENTS);
        return HtmlSeries.line(name, HtmlSeries.color(color), xs, xs.length == 0 ? xs : PERCENTS);
    }
}
