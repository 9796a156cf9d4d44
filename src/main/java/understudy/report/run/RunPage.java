package understudy.report.run;

import java.io.IOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import understudy.report.Figures;
import understudy.report.Goodput;
import understudy.report.HostStats;
import understudy.report.ReplicaStats;
import understudy.report.RunRecord;
import understudy.report.RunReport;
import understudy.report.RunResult;
import understudy.report.ServiceLevels;
import understudy.report.Timeline;
import understudy.report.html.Curve;
import understudy.report.html.Page;
import understudy.report.html.PageTables;

/**
 * Page about a run. Equal runs give equal pages but for the object {@code host} of its data.
 *
 * @param history of the same run
 */
public record RunPage(
        RunSetup setup, RunRecord run, RunReport report, ServiceLevels levels, RunHistory history, HostStats host) {
    private static final int MAX_BARS = 128;
    private static final int MAX_INTERVALS = 144;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;

    /** Writes the page; the caller closes {@code out}. */
    public void write(Writer out) throws IOException {
        history.end(run.endNanos());
        var result = RunResult.withoutDetails(report);
        var data = new Figures()
                .add("setup", setup.figures())
                .add("verdicts", verdicts())
                .add("result", result.figures())
                .add("shown", PageTables.of(result))
                .add("latency", LatencyFigures.of(run, history))
                .add("course", CourseFigures.of(history))
                .add("requests", RequestFigures.of(history.sample));
        addLoad(data);
        if (report.replicas().size() > 1) {
            data.add("balance", balance());
        }
        data.add("host", RunResult.host(report, host));
        new Page("Run of " + setup.scenario(), "understudy/report/run/run.html", data, result.figures()).write(out);
    }

    /** Says first whether the run has met its service levels, if there are any. */
    private List<Figures> verdicts() {
        return report.goodput().classes().stream()
                .map(each -> new Figures().add("good", each.isMet()).add("text", verdict(each)))
                .toList();
    }

    private String verdict(Goodput.ServiceClass judged) {
        return String.format(
                Locale.ROOT,
                "Service level %s%s: %d of %d requests (%.2f %%) had %s; wanted are %.2f %%.",
                judged.isMet() ? "met" : "missed",
                judged.priority().isPresent() ? " by priority " + judged.name() : "",
                judged.numGood(),
                judged.numRequests(),
                judged.attainment() * 100,
                words(levels.of(judged.priority())),
                judged.wanted() * 100);
    }

    private static String words(ServiceLevels.Limits limits) {
        var words = new ArrayList<String>();
        add("TTFT", limits.ttftNanos(), words);
        add("TPOT", limits.tpotNanos(), words);
        add("E2EL", limits.e2elNanos(), words);
        return String.join(", ", words);
    }

    private static void add(String name, long nanos, List<String> words) {
        if (nanos != ServiceLevels.Limits.OFF) {
            words.add(String.format(Locale.ROOT, "%s ≤ %.4g ms", name, nanos / NANOS_PER_MILLI));
        }
    }

    /** Adds arrivals and numbers of replicas over time; nothing about a run of no more than a second. */
    private void addLoad(Figures data) {
        var intervals = Timeline.of(run, levels, 1, MAX_INTERVALS).intervals();
        if (intervals.size() < 2) {
            return;
        }
        long seconds = intervals.get(1).startSeconds();
        data.addObject("load")
                .add("interval_s", seconds)
                .add("arrivals_per_s", load(intervals, each -> (double) each.numArrived() / seconds))
                .add("ready_replicas", load(intervals, Timeline.Interval::numReady));
    }

    private static Figures load(List<Timeline.Interval> intervals, ToDoubleFunction<Timeline.Interval> figure) {
        return Curve.of(
                intervals.stream().mapToDouble(Timeline.Interval::startSeconds).toArray(),
                intervals.stream().mapToDouble(figure).toArray());
    }

    private Figures balance() {
        return new Figures()
                .add("too_many_for_bars", report.replicas().size() > MAX_BARS)
                .add(
                        "labels",
                        report.replicas().stream()
                                .limit(MAX_BARS)
                                .map(each -> each.group() + (each.group().isEmpty() ? "" : " ") + each.replicaIndex())
                                .toList())
                .add("requests", bars(each -> each.numRequests()))
                .add("busy_percent", bars(this::busyPercent))
                .add("peak_kv_percent", bars(each -> each.peakKvUsage() * 100));
    }

    private double busyPercent(ReplicaStats replica) {
        return report.durationSeconds() == 0
                ? 0
                : replica.busyNanos() / NANOS_PER_SECOND / report.durationSeconds() * 100;
    }

    private Figures bars(ToDoubleFunction<ReplicaStats> figure) {
        return Curve.bars(
                report.replicas().stream().limit(MAX_BARS).mapToDouble(figure).toArray());
    }
}
