package understudy.describe;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import understudy.replay.SharingView;
import understudy.report.html.HtmlChart;
import understudy.report.html.HtmlPage;
import understudy.report.html.HtmlSection;
import understudy.report.html.HtmlSeries;

/** Description of a trace as a page. */
final class DescriptionPage {
    private static final HtmlChart.Axis TIME = new HtmlChart.Axis("time", "s");
    private static final double[] PERCENTS =
            IntStream.rangeClosed(0, 100).asDoubleStream().toArray();

    private DescriptionPage() {}

    static HtmlPage of(TraceDescription trace) {
        var page = new HtmlPage("Trace " + trace.file);
        page.fact("Format", trace.format)
                .fact("Requests", String.format(Locale.ROOT, "%,d", trace.numRequests()))
                .fact("Duration", String.format(Locale.ROOT, "%,.1f s", trace.durationSeconds))
                .fact("Requests per second", String.format(Locale.ROOT, "%.3f", trace.requestsPerSecond()))
                .fact("Variation of the gaps", String.format(Locale.ROOT, "%.2f", trace.gapVariation))
                .fact("Prompt tokens", String.format(Locale.ROOT, "%,.0f", trace.promptTokens.sum()))
                .fact("Output tokens", String.format(Locale.ROOT, "%,.0f", trace.outputTokens.sum()));
        page.section(rates(trace)).section(lengths(trace));
        return page.section(trace.hasContent() ? content(trace) : withoutContent())
                .section(new HtmlSection("figures", "In figures").details("All of it, as on a terminal", trace.text()));
    }

    private static HtmlSection rates(TraceDescription trace) {
        var course = trace.course;
        return new HtmlSection("rates", "Load over time")
                .paragraph("Intervals of " + course.widthSeconds() + " s.")
                .charts(
                        chart("requests", "Requests", "requests/s", rate("requests", course, TimeCourse.Sum.REQUESTS)),
                        chart(
                                "tokens",
                                "Tokens",
                                "tokens/s",
                                rate("prompt", course, TimeCourse.Sum.PROMPT_TOKENS),
                                rate("output", course, TimeCourse.Sum.OUTPUT_TOKENS)));
    }

    private static HtmlSection lengths(TraceDescription trace) {
        var section = new HtmlSection("lengths", "Lengths and sessions");
        section.charts(
                quantiles("prompt-lengths", "Prompt tokens", "tokens", 1, trace.promptTokens),
                quantiles("output-lengths", "Output tokens", "tokens", 1, trace.outputTokens));
        if (trace.sessions.turns().number() > 0) {
            section.charts(
                    quantiles("turns", "Turns of a session", "turns", 1, trace.sessions.turns()),
                    quantiles("pauses", "Time between turns", "s", 1000, trace.sessions.pauseMillis()));
        }
        return section;
    }

    private static HtmlSection content(TraceDescription trace) {
        var course = trace.course;
        double[] hits = course.perSecond(TimeCourse.Sum.HIT_TOKENS);
        double[] prompts = course.perSecond(TimeCourse.Sum.PROMPT_TOKENS);
        var rates = new double[hits.length];
        Arrays.setAll(rates, i -> prompts[i] == 0 ? Double.NaN : hits[i] / prompts[i] * 100);
        return new HtmlSection("content", "What comes again")
                .paragraph(String.format(
                        Locale.ROOT,
                        "An infinite cache hits %.2f %% of the prompt tokens. Of %,d accesses to blocks of %d tokens %,d are"
                                + " reuses. The working set of a time are the blocks that were accessed before it, and are"
                                + " after it.",
                        trace.infiniteHitRate() * 100,
                        trace.sharing.numAccesses(),
                        trace.blockTokens,
                        trace.sharing.numReuses()))
                .charts(
                        chart(
                                "hit-rate",
                                "Hit rate of an infinite cache",
                                "%",
                                HtmlSeries.line("tokens", "accent", course.seconds(), rates)),
                        chart(
                                "working-set",
                                "Working set",
                                "blocks",
                                HtmlSeries.line("blocks", "loading", course.seconds(), course.workingSet())),
                        byDistance(trace.sharing),
                        byAge(trace.sharing));
    }

    private static HtmlSection withoutContent() {
        return new HtmlSection("content", "What comes again")
                .paragraph("The trace says nothing about content, so nothing can be said about prefix caches.");
    }

    private static HtmlChart byDistance(SharingView sharing) {
        var reuses = sharing.reusesByLruBlocks();
        return bars(
                "reuse-by-distance",
                "Reuses that an LRU cache of so many blocks has",
                IntStream.range(0, reuses.size())
                        .mapToObj(i -> String.valueOf(1L << i))
                        .toList(),
                reuses.toLongArray(),
                sharing.numReuses());
    }

    private static HtmlChart byAge(SharingView sharing) {
        return bars(
                "reuse-by-age",
                "Reuses of a block accessed within",
                IntStream.range(0, SharingView.numLimits())
                        .mapToObj(SharingView::limitName)
                        .toList(),
                sharing.reusesWithinMillis().toLongArray(),
                sharing.numReuses());
    }

    private static HtmlChart bars(String id, String title, List<String> labels, long[] counts, long all) {
        double[] percents = Arrays.stream(counts)
                .mapToDouble(count -> all == 0 ? 0 : 100.0 * count / all)
                .toArray();
        return new HtmlChart(
                id,
                title,
                HtmlChart.Kind.BARS,
                new HtmlChart.Axis("", ""),
                new HtmlChart.Axis("", "%"),
                List.of(HtmlSeries.bars("reuses", "accent", percents)),
                labels);
    }

    private static HtmlChart quantiles(String id, String title, String unit, double divisor, ValueCounts counts) {
        double[] values = Arrays.stream(counts.percentiles(PERCENTS))
                .map(value -> value / divisor)
                .toArray();
        return HtmlChart.lines(
                id,
                title,
                new HtmlChart.Axis(title, unit),
                new HtmlChart.Axis("share", "%"),
                List.of(HtmlSeries.line("share", "accent", values, values.length == 0 ? values : PERCENTS)));
    }

    private static HtmlSeries rate(String name, TimeCourse course, TimeCourse.Sum sum) {
        String color = sum == TimeCourse.Sum.OUTPUT_TOKENS ? "decode" : "prefill";
        return HtmlSeries.line(name, color, course.seconds(), course.perSecond(sum));
    }

    private static HtmlChart chart(String id, String title, String unit, HtmlSeries... lines) {
        return HtmlChart.lines(id, title, TIME, new HtmlChart.Axis("", unit), List.of(lines));
    }
}
