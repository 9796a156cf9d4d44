package understudy.report.run;

import it.unimi.dsi.fastutil.doubles.DoubleArrayList;
import java.util.Arrays;
import java.util.function.IntFunction;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import java.util.stream.DoubleStream;
import understudy.report.Figures;
import understudy.report.Outcome;
import understudy.report.RequestRecord;
import understudy.report.RunRecord;
import understudy.report.html.Curve;
import understudy.report.latency.LatencyStats;

/** Curves of the latencies of a run, in milliseconds: for each its distribution, and its percentiles over the run. */
final class LatencyFigures {
    private static final int NUM_INTERVALS = 60;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final int[] SHOWN_PERCENTS = {50, 90, 99};

    private final RunRecord run;

    private LatencyFigures(RunRecord run) {
        this.run = run;
    }

    static Figures of(RunRecord run, RunHistory history) {
        var of = new LatencyFigures(run);
        return new Figures()
                .add("ttft", of.figures(RequestRecord::firstTokenNanos, request -> request.ttftNanos()))
                .add(
                        "tpot",
                        of.figures(
                                RequestRecord::lastTokenNanos,
                                request -> request.numOutputTokens() > 1 ? request.tpotNanos() : Double.NaN))
                .add("itl", of.gaps(history.gaps))
                .add("e2el", of.figures(RequestRecord::lastTokenNanos, request -> request.e2elNanos()));
    }

    /** Returns the curves of a latency of answered requests, of which those that are not a number have none. */
    private Figures figures(ToLongFunction<RequestRecord> atNanos, ToDoubleFunction<RequestRecord> nanos) {
        long widthNanos = Math.max(1, (run.endNanos() + NUM_INTERVALS - 1) / NUM_INTERVALS);
        var all = new DoubleArrayList();
        var intervals = new DoubleArrayList[NUM_INTERVALS];
        Arrays.setAll(intervals, i -> new DoubleArrayList());
        run.requests().stream()
                .filter(request -> request.outcome() == Outcome.COMPLETED)
                .filter(request -> !Double.isNaN(nanos.applyAsDouble(request)))
                .forEach(request -> {
                    all.add(nanos.applyAsDouble(request));
                    intervals[(int) BinnedSeries.bin(atNanos.applyAsLong(request), widthNanos)].add(
                            nanos.applyAsDouble(request));
                });
        double[] seconds = new double[NUM_INTERVALS];
        Arrays.setAll(seconds, i -> (i + 0.5) * widthNanos / NANOS_PER_SECOND);
        return figures(
                LatencyStats.percentiles(all.toDoubleArray(), percents()),
                seconds,
                percent -> Arrays.stream(intervals)
                        .mapToDouble(interval -> percentile(interval, percent))
                        .toArray());
    }

    private static double percentile(DoubleArrayList nanos, int percent) {
        return nanos.isEmpty() ? Double.NaN : LatencyStats.percentile(nanos.toDoubleArray(), percent);
    }

    private Figures gaps(GapHistory gaps) {
        return figures(run.log().gaps().percentiles(percents()), gaps.seconds(), gaps::percentiles);
    }

    private static Figures figures(double[] percentiles, double[] seconds, IntFunction<double[]> overTime) {
        var figures = new Figures()
                .add("distribution", Curve.of(millis(percentiles), percentiles.length == 0 ? percentiles : percents()));
        for (int percent : SHOWN_PERCENTS) {
            figures.add("p" + percent, Curve.of(seconds, millis(overTime.apply(percent))));
        }
        return figures;
    }

    /** Returns 0, 0.5, … 99, 99.5, 99.6, … 100. */
    private static double[] percents() {
        double[] percents = new double[205];
        Arrays.setAll(percents, i -> i < 200 ? i / 2.0 : 99.5 + (i - 199) / 10.0);
        return percents;
    }

    private static double[] millis(double[] nanos) {
        return DoubleStream.of(nanos).map(each -> each / 1e6).toArray();
    }
}
