package understudy.describe;

import java.io.IOException;
import java.io.Writer;
import java.util.Arrays;
import java.util.stream.IntStream;
import understudy.replay.SharingView;
import understudy.report.Figures;
import understudy.report.Unit;
import understudy.report.html.Curve;
import understudy.report.html.Page;

/** Description of a trace as a page. */
final class DescriptionPage {
    private static final double[] PERCENTS =
            IntStream.rangeClosed(0, 100).asDoubleStream().toArray();

    private DescriptionPage() {}

    static void write(TraceDescription trace, Writer out) throws IOException {
        var course = trace.course;
        var data = new Figures()
                .addJson("result", trace.json())
                .add("text", trace.text())
                .add(
                        "load",
                        new Figures()
                                .add("requests", rate(course, TimeCourse.Sum.REQUESTS))
                                .add("prompt_tokens", rate(course, TimeCourse.Sum.PROMPT_TOKENS))
                                .add("output_tokens", rate(course, TimeCourse.Sum.OUTPUT_TOKENS)))
                .add(
                        "lengths",
                        new Figures()
                                .add("prompt_tokens", quantiles(trace.promptTokens, 1))
                                .add("output_tokens", quantiles(trace.outputTokens, 1)));
        if (trace.sessions.turns().number() > 0) {
            data.addObject("sessions")
                    .add("turns", quantiles(trace.sessions.turns(), 1))
                    .add("pauses_s", quantiles(trace.sessions.pauseMillis(), 1000));
        }
        if (trace.hasContent()) {
            addContent(trace, data.addObject("content"));
        }
        new Page("Trace " + trace.file, "understudy/describe/description.html", data, main(trace)).write(out);
    }

    private static Figures main(TraceDescription trace) {
        return new Figures()
                .add("format", trace.format)
                .add("requests", trace.numRequests())
                .add("duration", "", Unit.SECONDS, trace.durationSeconds)
                .add("requests_per_s", "", Unit.REQUESTS_PER_SECOND, trace.requestsPerSecond())
                .add("gap_cv", trace.gapVariation)
                .add("prompt_tokens", "", Unit.TOKENS, Math.round(trace.promptTokens.sum()))
                .add("output_tokens", "", Unit.TOKENS, Math.round(trace.outputTokens.sum()));
    }

    private static void addContent(TraceDescription trace, Figures to) {
        var course = trace.course;
        double[] hits = course.perSecond(TimeCourse.Sum.HIT_TOKENS);
        double[] prompts = course.perSecond(TimeCourse.Sum.PROMPT_TOKENS);
        var rates = new double[hits.length];
        Arrays.setAll(rates, i -> prompts[i] == 0 ? Double.NaN : hits[i] / prompts[i] * 100);
        var sharing = trace.sharing;
        to.add("hit_rate_percent", Curve.of(course.seconds(), rates))
                .add("working_set", Curve.of(course.seconds(), course.workingSet()))
                .add(
                        "distances",
                        IntStream.range(0, sharing.reusesByLruBlocks().size())
                                .mapToObj(i -> String.valueOf(1L << i))
                                .toList())
                .add("percent_by_distance", percents(sharing.reusesByLruBlocks().toLongArray(), sharing))
                .add(
                        "ages",
                        IntStream.range(0, SharingView.numLimits())
                                .mapToObj(SharingView::limitName)
                                .toList())
                .add("percent_by_age", percents(sharing.reusesWithinMillis().toLongArray(), sharing));
    }

    private static Figures percents(long[] reuses, SharingView sharing) {
        long all = sharing.numReuses();
        return Curve.bars(Arrays.stream(reuses)
                .mapToDouble(count -> all == 0 ? 0 : 100.0 * count / all)
                .toArray());
    }

    private static Figures quantiles(ValueCounts counts, double divisor) {
        double[] values = Arrays.stream(counts.percentiles(PERCENTS))
                .map(value -> value / divisor)
                .toArray();
        return Curve.of(values, values.length == 0 ? values : PERCENTS);
    }

    private static Figures rate(TimeCourse course, TimeCourse.Sum sum) {
        return Curve.of(course.seconds(), course.perSecond(sum));
    }
}
