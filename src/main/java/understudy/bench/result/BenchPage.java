package understudy.bench.result;

import java.io.IOException;
import java.io.Writer;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import understudy.report.Figures;
import understudy.report.Result;
import understudy.report.html.Curve;
import understudy.report.html.Page;
import understudy.report.html.PageTables;

/** Page of a benchmark: whether the client was late, latencies by percentile and over time, and all figures. */
public final class BenchPage {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MILLI = 1e6;
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
        var data = new Figures()
                .add("url", result.setup().url())
                .add("num_requests", result.requests().size())
                .add("partial", result.isPartial())
                .add("client_late", result.isClientLate())
                .add("result", figures.figures())
                .add("shown", PageTables.of(figures))
                .add("ttft", quantiles(BenchRequest::ttftNanos))
                .add("ttft_from_schedule", quantiles(request -> request.ttftNanos() + request.beforeSendNanos()))
                .add("e2el", quantiles(BenchRequest::e2elNanos))
                .add("e2el_from_schedule", quantiles(request -> request.e2elNanos() + request.beforeSendNanos()))
                .add("tpot", quantiles(BenchRequest::tpotNanos))
                .add("lag", quantiles(BenchRequest::lagNanos));
        addOverTime(data);
        new Page("Benchmark of " + result.setup().url(), "understudy/bench/result/bench.html", data, figures.figures())
                .write(out);
    }

    private Figures quantiles(ToDoubleFunction<BenchRequest> nanos) {
        return Curve.ofQuantiles(completed.stream().mapToDouble(nanos));
    }

    /** Adds every request, or every n-th where there are many. */
    private void addOverTime(Figures data) {
        int step = 1 + completed.size() / MAX_POINTS;
        var sorted = completed.stream()
                .sorted(Comparator.comparingLong(request -> request.times().intendedNanos()))
                .toList();
        long first = sorted.isEmpty() ? 0 : sorted.get(0).times().intendedNanos();
        var drawn = IntStream.range(0, sorted.size())
                .filter(i -> i % step == 0)
                .mapToObj(sorted::get)
                .toList();
        data.add("step", step == 1 ? null : step)
                .add(
                        "ttft_over_time",
                        Curve.of(
                                drawn.stream()
                                        .mapToDouble(
                                                request -> (request.times().intendedNanos() - first) / NANOS_PER_SECOND)
                                        .toArray(),
                                drawn.stream()
                                        .mapToDouble(request -> request.ttftNanos() / NANOS_PER_MILLI)
                                        .toArray()));
    }
}
