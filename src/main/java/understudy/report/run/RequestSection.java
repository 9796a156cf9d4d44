package understudy.report.run;

import com.github.freva.asciitable.ColumnData;
import it.unimi.dsi.fastutil.doubles.DoubleArrayList;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import understudy.report.Tables;
import understudy.report.html.HtmlChart;
import understudy.report.html.HtmlSection;
import understudy.report.html.HtmlSeries;

/** Section on single requests: lanes with their phases, lanes of sessions, and the slowest. */
final class RequestSection {
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final HtmlChart.Axis TIME = new HtmlChart.Axis("virtual time", "s");

    private RequestSection() {}

    static HtmlSection of(RequestSample sample) {
        var section = new HtmlSection("requests", "Requests");
        section.paragraph(
                "Queued is in the router or a replica's waiting queue, loading is while KV is on its way, prefill"
                        + " ends with the first token, and decode with the last one; waits after a preemption are in decode.");
        if (!sample.requests().stories().isEmpty()) {
            section.paragraph(rule("request", "requests", sample.requests(), RequestSample.MAX_REQUESTS));
            section.charts(lanes("request-lanes", "Requests by phase", "request", sample.requests()));
        }
        if (sample.sessions().stories().stream().anyMatch(turns -> turns.size() > 1)) {
            section.paragraph(rule("session", "sessions", sample.sessions(), RequestSample.MAX_SESSIONS));
            section.charts(lanes("session-lanes", "Sessions: their turns by phase", "session", sample.sessions()));
        }
        return section.table(
                "Slowest answered requests, by time from arrival to last token; times in ms but for the arrival",
                sample.slowest(),
                columns(sample.slowest()));
    }

    private static String rule(String one, String many, RequestSample.Thinned rows, int max) {
        return rows.step() == 1
                ? "All " + many + " that have ended."
                : "One " + one + " in " + rows.step()
                        + " of those that have ended, by number, so that there are at most " + max + ".";
    }

    private static HtmlChart lanes(String id, String title, String row, RequestSample.Thinned rows) {
        var series = new ArrayList<HtmlSeries>();
        for (var kind : RequestPhase.Kind.values()) {
            var bars = bars(kind, rows.stories());
            if (!bars.xs().isEmpty()) {
                series.add(bars);
            }
        }
        var labels = rows.rows().keySet().stream().map(String::valueOf).toList();
        return new HtmlChart(
                id, title, HtmlChart.Kind.LANES, TIME, new HtmlChart.Axis(row, ""), List.copyOf(series), labels);
    }

    private static HtmlSeries bars(RequestPhase.Kind kind, Collection<List<RequestStory>> rows) {
        var starts = new DoubleArrayList();
        var lanes = new DoubleArrayList();
        var ends = new DoubleArrayList();
        int lane = 0;
        for (var stories : rows) {
            for (var story : stories) {
                for (var phase : story.phases()) {
                    if (phase.kind() == kind) {
                        starts.add(phase.startNanos() / NANOS_PER_SECOND);
                        lanes.add(lane);
                        ends.add(phase.endNanos() / NANOS_PER_SECOND);
                    }
                }
            }
            lane++;
        }
        return new HtmlSeries(kind.word(), kind.word(), starts, lanes, ends);
    }

    private static List<ColumnData<RequestStory>> columns(List<RequestStory> slowest) {
        var columns = new ArrayList<ColumnData<RequestStory>>();
        columns.add(Tables.counts("Request", story -> story.ended().requestId()));
        columns.add(
                Tables.decimals("Arrival (s)", "%.3f", story -> story.ended().arrivalNanos() / NANOS_PER_SECOND));
        columns.add(Tables.counts("Replica", story -> story.ended().replicaIndex()));
        columns.add(Tables.counts("Prompt", story -> story.ended().numPromptTokens()));
        columns.add(Tables.counts("Cached", story -> story.ended().numCachedTokens()));
        columns.add(Tables.counts("Output", story -> story.ended().numOutputTokens()));
        if (slowest.stream().anyMatch(story -> story.ended().numPreemptions() > 0)) {
            columns.add(Tables.counts("Preempted", story -> story.ended().numPreemptions()));
        }
        columns.add(Tables.decimals("TTFT", "%.1f", story -> story.ended().ttftNanos() / NANOS_PER_MILLI));
        columns.add(Tables.decimals("E2EL", "%.1f", story -> story.ended().e2elNanos() / NANOS_PER_MILLI));
        for (var kind : RequestPhase.Kind.values()) {
            if (slowest.stream().anyMatch(story -> story.nanosOf(kind) > 0)) {
                columns.add(phase(kind));
            }
        }
        columns.add(Tables.words("Why the router chose the replica", RequestStory::reason));
        return columns;
    }

    private static ColumnData<RequestStory> phase(RequestPhase.Kind kind) {
        String header = kind.word().substring(0, 1).toUpperCase(Locale.ROOT)
                + kind.word().substring(1);
        return Tables.decimals(header, "%.1f", story -> story.nanosOf(kind) / NANOS_PER_MILLI);
    }
}
