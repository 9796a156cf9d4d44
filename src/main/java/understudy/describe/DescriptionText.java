package understudy.describe;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import understudy.replay.SharingView;
import understudy.report.Tables;

/** Description of a trace for a terminal. */
final class DescriptionText {
    private static final int MAX_ROWS = 24;

    private DescriptionText() {}

    /** Row of numbers of one kind. */
    private record Row(String name, ValueCounts counts, double unit) {
        String percentile(int index) {
            double[] values = counts.percentiles(ValueCounts.PERCENTS);
            return values.length == 0 ? "" : String.format(Locale.ROOT, "%.0f", values[index] / unit);
        }
    }

    static String of(TraceDescription trace) {
        var text = new StringBuilder();
        facts(trace).forEach(line -> text.append(line).append('\n'));
        text.append('\n').append(quantiles(trace)).append("\n\n");
        if (trace.hasContent()) {
            text.append(content(trace)).append('\n');
        } else {
            text.append("The trace says nothing about content, so nothing can be said about prefix caches.\n\n");
        }
        return text.append(course(trace)).append('\n').toString();
    }

    static List<String> facts(TraceDescription trace) {
        var lines = new ArrayList<>(List.of(
                trace.file + " (" + trace.format + ")",
                String.format(
                        Locale.ROOT,
                        "%,d requests in %,.1f s: %.3f per second, coefficient of variation of the gaps %.2f",
                        trace.numRequests(),
                        trace.durationSeconds,
                        trace.requestsPerSecond(),
                        trace.gapVariation),
                String.format(
                        Locale.ROOT,
                        "%,.0f prompt tokens, %,.0f output tokens",
                        trace.promptTokens.sum(),
                        trace.outputTokens.sum())));
        long numSessions = trace.sessions.turns().number();
        if (numSessions > 0) {
            lines.add(String.format(
                    Locale.ROOT,
                    "%,d sessions with %,.0f turns",
                    numSessions,
                    trace.sessions.turns().sum()));
        }
        if (trace.numTenants > 0) {
            lines.add(String.format(Locale.ROOT, "%,d tenants", trace.numTenants));
        }
        return lines;
    }

    private static String quantiles(TraceDescription trace) {
        var rows = new ArrayList<>(List.of(
                new Row("prompt tokens", trace.promptTokens, 1), new Row("output tokens", trace.outputTokens, 1)));
        if (trace.sessions.turns().number() > 0) {
            rows.add(new Row("turns of a session", trace.sessions.turns(), 1));
            rows.add(new Row("s between turns", trace.sessions.pauseMillis(), 1000));
        }
        return Tables.text(
                rows,
                List.of(
                        Tables.words("", Row::name),
                        Tables.decimals("Mean", "%.1f", row -> row.counts.mean() / row.unit),
                        Tables.numbers("Min", row -> row.percentile(0)),
                        Tables.numbers("P10", row -> row.percentile(1)),
                        Tables.numbers("P50", row -> row.percentile(2)),
                        Tables.numbers("P90", row -> row.percentile(3)),
                        Tables.numbers("P99", row -> row.percentile(4)),
                        Tables.numbers("Max", row -> row.percentile(5))));
    }

    private static String content(TraceDescription trace) {
        var sharing = trace.sharing;
        var text = new StringBuilder(String.format(
                Locale.ROOT,
                "%,d accesses to %,d different blocks of %d tokens; an infinite cache hits %.2f %% of the prompt tokens%n",
                sharing.numAccesses(),
                sharing.numBlocks(),
                trace.blockTokens,
                trace.infiniteHitRate() * 100));
        text.append("Of ")
                .append(String.format(Locale.ROOT, "%,d", sharing.numReuses()))
                .append(" reuses");
        for (int i = 0; i < SharingView.numLimits(); i++) {
            text.append(i == 0 ? ": " : ", ")
                    .append(share(sharing.reusesWithinMillis().getLong(i), sharing.numReuses()))
                    .append(" within ")
                    .append(SharingView.limitName(i));
        }
        var distances = sharing.reusesByLruBlocks();
        for (int i = 0; i < distances.size(); i += 4) {
            text.append(i == 0 ? "\nAn LRU cache has " : ", ")
                    .append(share(distances.getLong(i), sharing.numReuses()))
                    .append(" of them with ")
                    .append(String.format(Locale.ROOT, "%,d", 1L << i))
                    .append(i == 0 ? " block" : "");
        }
        return text.append('\n').toString();
    }

    private static String share(long part, long whole) {
        return String.format(Locale.ROOT, "%.1f %%", whole == 0 ? 0 : 100.0 * part / whole);
    }

    /** Interval of the course, or several together. */
    private record Span(TimeCourse course, int from, int to) {
        double perSecond(TimeCourse.Sum sum) {
            double total = 0;
            for (int i = from; i < to; i++) {
                total += course.at(sum, i);
            }
            return total / (to - from) / course.widthSeconds();
        }

        double workingSet() {
            double[] blocks = course.workingSet();
            double most = 0;
            for (int i = from; i < to; i++) {
                most = Math.max(most, blocks[i]);
            }
            return most;
        }
    }

    private static String course(TraceDescription trace) {
        int together = (trace.course.numBins() + MAX_ROWS - 1) / MAX_ROWS;
        var spans = new ArrayList<Span>();
        for (int i = 0; i < trace.course.numBins(); i += together) {
            spans.add(new Span(trace.course, i, Math.min(trace.course.numBins(), i + together)));
        }
        var columns = new ArrayList<>(List.of(
                Tables.<Span>counts("From s", span -> span.from * trace.course.widthSeconds()),
                Tables.<Span>decimals("Requests/s", "%.2f", span -> span.perSecond(TimeCourse.Sum.REQUESTS)),
                Tables.<Span>decimals("Prompt tokens/s", "%.0f", span -> span.perSecond(TimeCourse.Sum.PROMPT_TOKENS)),
                Tables.<Span>decimals(
                        "Output tokens/s", "%.0f", span -> span.perSecond(TimeCourse.Sum.OUTPUT_TOKENS))));
        if (trace.hasContent()) {
            columns.add(Tables.decimals(
                    "Hit rate %",
                    "%.1f",
                    span -> 100
                            * span.perSecond(TimeCourse.Sum.HIT_TOKENS)
                            / Math.max(1e-9, span.perSecond(TimeCourse.Sum.PROMPT_TOKENS))));
            columns.add(Tables.decimals("Working set, blocks", "%.0f", Span::workingSet));
        }
        return Tables.text(spans, columns);
    }

    static String word(Enum<?> name) {
        return name.name().toLowerCase(Locale.ROOT);
    }
}
