package understudy.report.run;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import understudy.report.RunRecord;
import understudy.report.ServiceLevels;
import understudy.report.Timeline;
import understudy.report.html.HtmlChart;
import understudy.report.html.HtmlSection;
import understudy.report.html.HtmlSeries;

/** Section on how a fleet goes with its load: what has come, and how many replicas there were. */
final class LoadSection {
    private static final int MAX_INTERVALS = 144;
    private static final HtmlChart.Axis TIME = new HtmlChart.Axis("virtual time", "s");

    private LoadSection() {}

    /** Returns the section; there is none about a run of no more than a second, or one in which nothing changed. */
    static Optional<HtmlSection> of(RunRecord run, ServiceLevels levels) {
        var intervals = Timeline.of(run, levels, 1, MAX_INTERVALS).intervals();
        if (intervals.size() < 2) {
            return Optional.empty();
        }
        double seconds = intervals.get(1).startSeconds();
        var charts = Stream.of(
                        chart(
                                "arrivals",
                                "Requests that came",
                                new HtmlChart.Axis("arrivals", "requests/s"),
                                line("requests", "accent", intervals, each -> each.numArrived() / seconds)),
                        chart(
                                "ready-replicas",
                                "Replicas that took requests, the fewest at a time",
                                new HtmlChart.Axis("replicas", ""),
                                line("replicas", "decode", intervals, Timeline.Interval::numReady)))
                .flatMap(chart -> chart.changing().stream())
                .toArray(HtmlChart[]::new);
        return charts.length == 0
                ? Optional.empty()
                : Optional.of(new HtmlSection("load", "Load and replicas")
                        .paragraph(String.format(Locale.ROOT, "Intervals of %.0f s.", seconds))
                        .charts(charts));
    }

    private static HtmlSeries line(
            String name, String color, List<Timeline.Interval> intervals, ToDoubleFunction<Timeline.Interval> figure) {
        double[] starts =
                intervals.stream().mapToDouble(Timeline.Interval::startSeconds).toArray();
        return HtmlSeries.line(
                name, color, starts, intervals.stream().mapToDouble(figure).toArray());
    }

    private static HtmlChart chart(String id, String title, HtmlChart.Axis y, HtmlSeries line) {
        return HtmlChart.lines(id, title, TIME, y, List.of(line));
    }
}
