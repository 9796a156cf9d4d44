package understudy.report.html;

import java.util.Arrays;
import java.util.stream.IntStream;

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
        var sorted = values.clone();
        Arrays.sort(sorted);
        double[] xs = sorted.length == 0
                ? new double[0]
                : Arrays.stream(PERCENTS).map(percent -> at(sorted, percent)).toArray();
        return HtmlSeries.line(name, HtmlSeries.color(color), xs, sorted.length == 0 ? xs : PERCENTS);
    }

    /** Interpolates between the two nearest ranks. */
    private static double at(double[] sorted, double percent) {
        double rank = percent / 100 * (sorted.length - 1);
        int below = (int) rank;
        int above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (rank - below) * (sorted[above] - sorted[below]);
    }
}
