package understudy.report.html;

import it.unimi.dsi.fastutil.doubles.DoubleList;

/**
 * Series of a chart.
 *
 * @param color name of a colour of the style sheet, such as {@code line-0} or {@code decode}
 * @param xs of each point; of a lane the begin of each bar, of a bar chart nothing
 * @param ys of each point or bar; not a number is a gap. Of a lane it is the row, from 0
 * @param ends of each bar of a lane, else nothing
 */
public record HtmlSeries(String name, String color, DoubleList xs, DoubleList ys, DoubleList ends) {
    private static final int NUM_COLORS = 7;

    /** Returns a line through points. */
    public static HtmlSeries line(String name, String color, double[] xs, double[] ys) {
        return new HtmlSeries(name, color, DoubleList.of(xs), DoubleList.of(ys), DoubleList.of());
    }

    /** Returns a bar for each label of the chart. */
    public static HtmlSeries bars(String name, String color, double[] ys) {
        return new HtmlSeries(name, color, DoubleList.of(), DoubleList.of(ys), DoubleList.of());
    }

    /** Returns whether all values are the same, or there are none; a single point is no course. */
    boolean isConstant() {
        return ys.size() != 1
                && ys.doubleStream()
                                .filter(Double::isFinite)
                                .distinct()
                                .limit(2)
                                .count()
                        < 2;
    }

    /** Returns the name of the colour of a line without a meaning of its own. */
    public static String color(int index) {
        return "line-" + index % NUM_COLORS;
    }
}
