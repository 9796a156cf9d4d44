package understudy.report.run;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import understudy.report.RunRecord;
import understudy.report.ServiceLevels;
import understudy.report.Timeline;
import understudy.report.html.HtmlChart;
import understudy.report.html.HtmlSection;
import understudy.report.html.HtmlSeries;

/** Section on how a fleet goes with its load: what has come, how long it waited, and how many replicas there were. */
final class LoadSection {
    private static final int MAX_INTERVALS = 144;
    private static final HtmlChart.Axis TIME = new HtmlChart.Axis("virtual time", "s");
    private static final double NANOS_PER_MILLI = 1e6;

    private LoadSection() {}

    /** Returns the section; there is none about a run of no more than a second. */
    static Optional<HtmlSection> of(RunRecord run, ServiceLevels levels) {
        var intervals = Timeline.of(run, levels, 1, MAX_INTERVALS).intervals();
        return intervals.size() < 2 ? Optional.empty() : Optional.of(of(intervals));
    }

    private static HtmlSection of(List<Timeline.Interval> intervals) {
        double seconds = intervals.get(1).startSeconds();
        return new HtmlSection("load", "Load and replicas")
                .paragraph(String.format(Locale.ROOT, "Intervals of %.0f s.", seconds))
                .charts(
                        chart(
                                "arrivals",
                                "Requests that came",
                                "requests/s",
                                line("requests", "accent", intervals, each -> each.numArrived() / seconds)),
                        chart(
                                "ttft-course",
                                "TTFT of the requests that got their first token",
                                "ms",
                                line(
                                        "P99",
                                        "bad",
                                        intervals,
                                        each -> millis(each, each.ttft().p99Nanos())),
                                line(
                                        "median",
                                        "queued",
                                        intervals,
                                        each -> millis(each, each.ttft().p50Nanos()))),
                        chart(
                                "ready-replicas",
                                "Replicas that took requests, the fewest at a time",
                                "replicas",
                                line("replicas", "decode", intervals, Timeline.Interval::numReady)));
    }

    /** Nothing was measured where no request got its first token. */
    private static double millis(Timeline.Interval interval, double nanos) {
        return interval.ttft().count() == 0 ? Double.NaN : nanos / NANOS_PER_MILLI;
    }

    private static HtmlSeries line(
            String name, String color, List<Timeline.Interval> intervals, ToDoubleFunction<Timeline.Interval> figure) {
        double[] starts =
                intervals.stream().mapToDouble(Timeline.Interval::startSeconds).toArray();
        return HtmlSeries.line(
                name, color, starts, intervals.stream().mapToDouble(figure).toArray());
    }

    private static HtmlChart chart(String id, String title, String unit, HtmlSeries... lines) {
        return HtmlChart.lines(id, title, TIME, new HtmlChart.Axis("", unit), List.of(lines));
    }
}
