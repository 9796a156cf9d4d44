package understudy.report.run;

import it.unimi.dsi.fastutil.doubles.DoubleArrayList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import understudy.report.Outcome;
import understudy.report.RequestRecord;
import understudy.report.RunRecord;
import understudy.report.html.HtmlChart;
import understudy.report.html.HtmlSection;
import understudy.report.html.HtmlSeries;
import understudy.report.html.LatencyUnit;
import understudy.report.latency.LatencyStats;

/** Section on latencies: for each its distribution, and its percentiles over the run. */
final class LatencySection {
    private static final int NUM_INTERVALS = 60;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double[] SHOWN_PERCENTS = {50, 90, 99};
    private static final HtmlChart.Axis TIME = new HtmlChart.Axis("virtual time", "s");
    private static final HtmlChart.Axis SHARE = new HtmlChart.Axis("requests below", "%");

    private final RunRecord run;
    private final HtmlSection section = new HtmlSection("latency", "Latency");

    private LatencySection(RunRecord run) {
        this.run = run;
    }

    static HtmlSection of(RunRecord run, RunHistory history) {
        var writer = new LatencySection(run);
        writer.section.paragraph(
                "Of answered requests. Distributions show each half percent, and each tenth of the last"
                        + " one; curves over time show the median, P90 and P99 of " + NUM_INTERVALS
                        + " intervals of equal length: the TTFT in the interval of the first token, TPOT and E2EL in"
                        + " that of the last one. Gaps between tokens are in up to 120 intervals, and there to 1.6"
                        + " %.");
        writer.add(
                "ttft",
                "TTFT",
                "TTFT: time to first token",
                writer.of(RequestRecord::firstTokenNanos, LatencySection::ttft));
        writer.add(
                "tpot",
                "TPOT",
                "TPOT: time per output token",
                writer.of(RequestRecord::lastTokenNanos, LatencySection::tpot));
        writer.addGaps(history.gaps);
        writer.add("e2el", "E2EL", "E2EL: end to end", writer.of(RequestRecord::lastTokenNanos, LatencySection::e2el));
        return writer.section;
    }

    private static double ttft(RequestRecord request) {
        return request.ttftNanos();
    }

    private static double tpot(RequestRecord request) {
        return request.numOutputTokens() > 1 ? request.tpotNanos() : Double.NaN;
    }

    private static double e2el(RequestRecord request) {
        return request.e2elNanos();
    }

    /** How both charts of a latency show it. */
    private record Shown(String id, String quantity, String title, LatencyUnit unit) {}

    /** Latency of each answered request that has one, and when it was over. */
    private record Latencies(LongArrayList atNanos, DoubleArrayList nanos) {}

    private Latencies of(ToLongFunction<RequestRecord> atNanos, ToDoubleFunction<RequestRecord> nanos) {
        var latencies = new Latencies(new LongArrayList(), new DoubleArrayList());
        run.requests().stream()
                .filter(request -> request.outcome() == Outcome.COMPLETED)
                .filter(request -> !Double.isNaN(nanos.applyAsDouble(request)))
                .forEach(request -> {
                    latencies.atNanos.add(atNanos.applyAsLong(request));
                    latencies.nanos.add(nanos.applyAsDouble(request));
                });
        return latencies;
    }

    private void add(String id, String quantity, String title, Latencies latencies) {
        double[] percentiles = LatencyStats.percentiles(latencies.nanos.toDoubleArray(), percents());
        var shown = new Shown(id, quantity, title, LatencyUnit.of(percentiles));
        section.charts(distribution(shown, SHARE, percentiles), overTime(shown, latencies));
    }

    private void addGaps(GapHistory gaps) {
        double[] percentiles = run.log().gaps().percentiles(percents());
        var shown = new Shown("itl", "ITL", "ITL: gap between tokens", LatencyUnit.of(percentiles));
        var lines = Arrays.stream(SHOWN_PERCENTS)
                .mapToObj(percent -> line(shown, percent, gaps.seconds(), gaps.percentiles(percent)))
                .toList();
        section.charts(distribution(shown, new HtmlChart.Axis("gaps below", "%"), percentiles), overTime(shown, lines));
    }

    /** Returns 0, 0.5, … 99, 99.5, 99.6, … 100. */
    private static double[] percents() {
        double[] percents = new double[205];
        Arrays.setAll(percents, i -> i < 200 ? i / 2.0 : 99.5 + (i - 199) / 10.0);
        return percents;
    }

    private static HtmlChart distribution(Shown shown, HtmlChart.Axis share, double[] percentiles) {
        double[] percents = percents();
        // A logarithmic axis has no place for 0, and no distribution is interesting there.
        int first = 0;
        while (first < percentiles.length && percentiles[first] <= 0) {
            first++;
        }
        double[] shares = percentiles.length == 0 ? percentiles : Arrays.copyOfRange(percents, first, percents.length);
        var line = HtmlSeries.line(
                share.title(),
                "accent",
                shown.unit.convert(Arrays.copyOfRange(percentiles, first, percentiles.length)),
                shares);
        return new HtmlChart(
                shown.id + "-cdf",
                shown.title + ", distribution",
                HtmlChart.Kind.LOG_LINE,
                shown.unit.axis(shown.quantity + ", log scale"),
                share,
                List.of(line),
                List.of());
    }

    private HtmlChart overTime(Shown shown, Latencies latencies) {
        long widthNanos = Math.max(1, (run.endNanos() + NUM_INTERVALS - 1) / NUM_INTERVALS);
        var intervals = new ArrayList<DoubleArrayList>();
        double[] seconds = new double[NUM_INTERVALS];
        for (int i = 0; i < NUM_INTERVALS; i++) {
            intervals.add(new DoubleArrayList());
            seconds[i] = (i + 0.5) * widthNanos / NANOS_PER_SECOND;
        }
        for (int i = 0; i < latencies.nanos.size(); i++) {
            intervals
                    .get((int) BinnedSeries.bin(latencies.atNanos.getLong(i), widthNanos))
                    .add(latencies.nanos.getDouble(i));
        }
        var percentiles = intervals.stream()
                .map(interval -> LatencyStats.percentiles(interval.toDoubleArray(), SHOWN_PERCENTS))
                .toList();
        var lines = new ArrayList<HtmlSeries>();
        for (int i = 0; i < SHOWN_PERCENTS.length; i++) {
            int which = i;
            lines.add(line(
                    shown,
                    SHOWN_PERCENTS[i],
                    seconds,
                    percentiles.stream()
                            .mapToDouble(each -> each.length == 0 ? Double.NaN : each[which])
                            .toArray()));
        }
        return overTime(shown, lines);
    }

    private static HtmlSeries line(Shown shown, double percent, double[] seconds, double[] nanos) {
        String name = String.format(Locale.ROOT, "p%.0f", percent);
        return HtmlSeries.line(name, name, seconds, shown.unit.convert(nanos));
    }

    private static HtmlChart overTime(Shown shown, List<HtmlSeries> lines) {
        return HtmlChart.lines(
                shown.id + "-time", shown.title + ", over time", TIME, shown.unit.axis(shown.quantity), lines);
    }
}
