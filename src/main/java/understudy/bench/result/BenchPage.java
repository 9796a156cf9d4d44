package understudy.bench.result;

import java.io.IOException;
import java.io.Writer;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToDoubleFunction;
import understudy.report.Result;
import understudy.report.html.HtmlChart;
import understudy.report.html.HtmlPage;
import understudy.report.html.HtmlSection;
import understudy.report.html.HtmlSeries;
import understudy.report.html.LatencyUnit;
import understudy.report.html.Quantiles;
import understudy.report.html.ResultSections;

/** Page of a benchmark: whether the client was late, latencies by percentile and over time, and all figures. */
public final class BenchPage {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final int MAX_POINTS = 2000;

    private final BenchResult result;
    private final List<BenchRequest> completed;

    public BenchPage(BenchResult result) {
        this.result = result;
        completed = result.completed();
    }

    /**
     * Writes the page.
     *
     * @param figures of the same benchmark
     */
    public void write(Result figures, Writer out) throws IOException {
        var page = new HtmlPage("Benchmark of " + result.setup().url())
                .fact("Model", result.setup().model())
                .fact("Requests", String.valueOf(result.requests().size()))
                .fact("Partial", result.isPartial() ? "yes, it was broken off" : "no");
        verdict(page);
        page.section(new HtmlSection("percentiles", "Latencies")
                        .paragraph(
                                "From the send, as vLLM measures them, and from the time at which the workload wanted"
                                        + " the request sent.")
                        .charts(ttft(), e2el(), tpot(), lag()))
                .section(new HtmlSection("time", "Over time").charts(overTime()));
        ResultSections.add(figures, "Errors", page);
        page.write(out);
    }

    private void verdict(HtmlPage page) {
        page.verdict(
                result.isClientLate() ? HtmlPage.Verdict.BAD : HtmlPage.Verdict.GOOD,
                result.isClientLate()
                        ? "The client itself was late: these latencies are not the server's alone."
                        : "The client kept to its schedule.");
    }

    private HtmlChart ttft() {
        return Quantiles.chart(
                "ttft",
                "TTFT",
                line("from the send", BenchRequest::ttftNanos),
                line("from the schedule", request -> request.ttftNanos() + request.beforeSendNanos()));
    }

    private HtmlChart e2el() {
        return Quantiles.chart(
                "e2el",
                "E2EL",
                line("from the send", BenchRequest::e2elNanos),
                line("from the schedule", request -> request.e2elNanos() + request.beforeSendNanos()));
    }

    private HtmlChart tpot() {
        return Quantiles.chart("tpot", "TPOT", line("TPOT", BenchRequest::tpotNanos));
    }

    private HtmlChart lag() {
        return Quantiles.chart("lag", "Schedule lag", line("lag", BenchRequest::lagNanos));
    }

    private Quantiles.Latencies line(String name, ToDoubleFunction<BenchRequest> nanos) {
        return Quantiles.Latencies.of(name, completed.stream().mapToDouble(nanos));
    }

    /** Draws every request, or every n-th where there are many. */
    private HtmlChart overTime() {
        int step = 1 + completed.size() / MAX_POINTS;
        var drawn = completed.stream()
                .sorted(Comparator.comparingLong(request -> request.times().intendedNanos()))
                .toList();
        long first = drawn.isEmpty() ? 0 : drawn.get(0).times().intendedNanos();
        int count = (drawn.size() + step - 1) / step;
        var xs = new double[count];
        var ys = new double[count];
        for (int i = 0; i < count; i++) {
            var request = drawn.get(i * step);
            xs[i] = (request.times().intendedNanos() - first) / NANOS_PER_SECOND;
            ys[i] = request.ttftNanos();
        }
        var unit = LatencyUnit.of(ys);
        String which = step == 1 ? "every request" : "one request in " + step;
        return HtmlChart.lines(
                "ttft-over-time",
                "TTFT of " + which,
                new HtmlChart.Axis("intended send time", "s"),
                unit.axis("TTFT"),
                List.of(HtmlSeries.line("TTFT", HtmlSeries.color(0), xs, unit.convert(ys))));
    }
}
