package understudy.report.run;

import java.util.List;
import java.util.stream.IntStream;
import understudy.report.Figures;
import understudy.report.html.Curve;

/** Curves of the course of a run: throughput, queues, KV cache, hit rate, preemptions, and KV that was moved. */
final class CourseFigures {
    private static final double BYTES_PER_GIGABYTE = 1e9;
    private static final int LOOKED_UP_TOGETHER = 10;

    private CourseFigures() {}

    static Figures of(RunHistory history) {
        var course = new Figures()
                .add("interval_ms", history.kvUsed.widthNanos() / 1_000_000)
                .add("output_tokens", history.outputTokens.curveOfRates(1))
                .add("computed_tokens", history.computedTokens.curveOfRates(1))
                .add("running", history.running.curve())
                .add("waiting", history.waiting.curve())
                .add("held", history.held.curve())
                .add("kv_used_percent", history.kvUsed.curve())
                .add("kv_filled_percent", history.kvFilled.curve())
                .add("hit_rate_percent", hitRate(history))
                .add("preemptions", history.preemptions.curve())
                .add("moved_gb_per_s", history.movedBytes.curveOfRates(BYTES_PER_GIGABYTE));
        if (history.replicas.size() > 1 && history.replicas.size() <= RunHistory.MAX_CURVES) {
            course.addList("kv_used_percent_by_replica", history.replicas.size(), i -> {
                var used = history.replicas.get(i).kvUsed;
                return Curve.of("replica " + i, used.seconds(), used.maxima());
            });
        }
        if (!history.own.isEmpty()) {
            course.addObject("own")
                    .add("x", "virtual time (s)")
                    .add(
                            "charts",
                            history.own.entrySet().stream()
                                    .map(each -> ownChart(each.getKey(), each.getValue()))
                                    .toList());
        }
        return course.add(
                "tiers_used_percent",
                history.tiers.entrySet().stream()
                        .map(tier -> Curve.of(
                                tier.getKey().label(),
                                tier.getValue().seconds(),
                                tier.getValue().maxima()))
                        .toList());
    }

    private static Figures ownChart(String title, BinnedSeries series) {
        return new Figures()
                .add("title", title)
                .add("series", List.of(Curve.of(title, series.seconds(), series.maxima())));
    }

    private static Figures hitRate(RunHistory history) {
        double[] hits = sums(history.hits.increases());
        double[] queries = sums(history.queries.increases());
        double[] ends = history.hits.seconds();
        return Curve.of(
                IntStream.range(0, hits.length)
                        .mapToDouble(i -> ends[Math.min(ends.length, (i + 1) * LOOKED_UP_TOGETHER) - 1])
                        .toArray(),
                IntStream.range(0, hits.length)
                        .mapToDouble(i -> queries[i] <= 0 ? Double.NaN : hits[i] / queries[i] * 100)
                        .toArray());
    }

    /** A single interval has too few look-ups for a rate. */
    private static double[] sums(double[] values) {
        double[] sums = new double[(values.length + LOOKED_UP_TOGETHER - 1) / LOOKED_UP_TOGETHER];
        for (int i = 0; i < values.length; i++) {
            sums[i / LOOKED_UP_TOGETHER] += values[i];
        }
        return sums;
    }
}
