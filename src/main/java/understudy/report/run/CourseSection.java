package understudy.report.run;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import understudy.report.html.HtmlChart;
import understudy.report.html.HtmlSection;
import understudy.report.html.HtmlSeries;

/** Section on the course of a run: throughput, queues, KV cache, hit rate, preemptions, and KV that was moved. */
final class CourseSection {
    private static final HtmlChart.Axis TIME = new HtmlChart.Axis("virtual time", "s");
    private static final HtmlChart.Axis KV_IN_USE = new HtmlChart.Axis("KV cache", "%");
    private static final double BYTES_PER_GIGABYTE = 1e9;
    private static final int LOOKED_UP_TOGETHER = 10;

    private CourseSection() {}

    static HtmlSection of(RunHistory history) {
        var section = new HtmlSection("course", "Course of the run");
        section.paragraph(String.format(
                Locale.ROOT,
                "Intervals of %d ms, at most %d of them. Of what is in use or waits they show the largest value, of"
                        + " tokens, bytes and look-ups what there was in each. What never changed is left out.",
                history.kvUsed.widthNanos() / 1_000_000,
                BinnedSeries.MAX_BINS));
        var charts = new ArrayList<>(List.of(
                throughput("output-tokens", "Output tokens", history.outputTokens, "decode"),
                throughput("computed-tokens", "Computed tokens, prompts included", history.computedTokens, "prefill"),
                queues(history),
                kvUse(history),
                hitRate(history)));
        if (isAnything(history.preemptions)) {
            charts.add(preemptions(history));
        }
        if (history.replicas.size() > 1 && history.replicas.size() <= RunHistory.MAX_CURVES) {
            charts.add(kvByReplica(history));
        }
        if (!history.tiers.isEmpty()) {
            charts.add(tiers(history));
        }
        if (isAnything(history.movedBytes)) {
            charts.add(moved(history));
        }
        return section.charts(
                charts.stream().flatMap(chart -> chart.changing().stream()).toArray(HtmlChart[]::new));
    }

    private static boolean isAnything(BinnedSeries series) {
        return Arrays.stream(series.maxima()).anyMatch(value -> value > 0);
    }

    private static HtmlChart throughput(String id, String title, BinnedSeries tokens, String color) {
        var axis = new HtmlChart.Axis("throughput", "tokens/s");
        return chart(id, title, axis, HtmlSeries.line("tokens", color, tokens.seconds(), tokens.rates()));
    }

    private static HtmlChart queues(RunHistory history) {
        return chart(
                "queues",
                "Requests running and waiting",
                new HtmlChart.Axis("requests", ""),
                line("running", "decode", history.running),
                line("waiting in replicas", "queued", history.waiting),
                line("held in the router", "bad", history.held));
    }

    private static HtmlChart kvUse(RunHistory history) {
        return chart(
                "kv-use",
                "KV cache, all replicas",
                KV_IN_USE,
                line("used by requests", "accent", history.kvUsed),
                line("used or cached", "ideal-0", history.kvFilled));
    }

    private static HtmlChart kvByReplica(RunHistory history) {
        var lines = new ArrayList<HtmlSeries>();
        for (int i = 0; i < history.replicas.size(); i++) {
            lines.add(line("replica " + i, HtmlSeries.color(i), history.replicas.get(i).kvUsed));
        }
        return HtmlChart.lines("kv-by-replica", "KV cache used by requests, by replica", TIME, KV_IN_USE, lines);
    }

    private static HtmlChart hitRate(RunHistory history) {
        double[] hits = sums(history.hits.increases());
        double[] queries = sums(history.queries.increases());
        double[] rates = new double[hits.length];
        Arrays.setAll(rates, i -> queries[i] <= 0 ? Double.NaN : hits[i] / queries[i] * 100);
        double[] ends = history.hits.seconds();
        double[] seconds = new double[hits.length];
        Arrays.setAll(seconds, i -> ends[Math.min(ends.length, (i + 1) * LOOKED_UP_TOGETHER) - 1]);
        return chart(
                "hit-rate",
                "Prefix cache hit rate, in intervals ten times as long",
                new HtmlChart.Axis("hit rate", "%"),
                HtmlSeries.line("tokens hit", "accent", seconds, rates));
    }

    /** A single interval has too few look-ups for a rate. */
    private static double[] sums(double[] values) {
        double[] sums = new double[(values.length + LOOKED_UP_TOGETHER - 1) / LOOKED_UP_TOGETHER];
        for (int i = 0; i < values.length; i++) {
            sums[i / LOOKED_UP_TOGETHER] += values[i];
        }
        return sums;
    }

    private static HtmlChart preemptions(RunHistory history) {
        return chart(
                "preemptions",
                "Preemptions since the start",
                new HtmlChart.Axis("preemptions", ""),
                line("preemptions", "bad", history.preemptions));
    }

    private static HtmlChart tiers(RunHistory history) {
        var lines = new ArrayList<HtmlSeries>();
        history.tiers.forEach(
                (source, series) -> lines.add(line(source.label(), HtmlSeries.color(lines.size()), series)));
        return HtmlChart.lines(
                "tiers", "Slower memories in use", TIME, new HtmlChart.Axis("blocks in use", "%"), lines);
    }

    private static HtmlChart moved(RunHistory history) {
        double[] rates = Arrays.stream(history.movedBytes.rates())
                .map(rate -> rate / BYTES_PER_GIGABYTE)
                .toArray();
        return chart(
                "moved",
                "KV moved",
                new HtmlChart.Axis("transfers", "GB/s"),
                HtmlSeries.line("all transfers", "loading", history.movedBytes.seconds(), rates));
    }

    private static HtmlSeries line(String name, String color, BinnedSeries series) {
        return HtmlSeries.line(name, color, series.seconds(), series.maxima());
    }

    private static HtmlChart chart(String id, String title, HtmlChart.Axis y, HtmlSeries... lines) {
        return HtmlChart.lines(id, title, TIME, y, List.of(lines));
    }
}
