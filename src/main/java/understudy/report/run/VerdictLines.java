package understudy.report.run;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import understudy.report.Goodput;
import understudy.report.RunReport;
import understudy.report.ServiceLevels;
import understudy.report.html.HtmlPage;

/** What a page says first: whether the run has met its service levels, if there are any. */
final class VerdictLines {
    private static final double NANOS_PER_MILLI = 1e6;

    private VerdictLines() {}

    static void add(RunReport report, ServiceLevels levels, HtmlPage page) {
        if (report.isPartial()) {
            page.verdict(HtmlPage.Verdict.BAD, "Broken off: all figures are those until then.");
        }
        for (var each : report.goodput().classes()) {
            page.verdict(each.isMet() ? HtmlPage.Verdict.GOOD : HtmlPage.Verdict.BAD, line(each, levels));
        }
    }

    private static String line(Goodput.ServiceClass judged, ServiceLevels levels) {
        return String.format(
                Locale.ROOT,
                "Service level %s%s: %d of %d requests (%.2f %%) had %s; wanted are %.2f %%.",
                judged.isMet() ? "met" : "missed",
                judged.priority().isPresent() ? " by priority " + judged.name() : "",
                judged.numGood(),
                judged.numRequests(),
                judged.attainment() * 100,
                words(levels.of(judged.priority())),
                judged.wanted() * 100);
    }

    private static String words(ServiceLevels.Limits limits) {
        var words = new ArrayList<String>();
        add("TTFT", limits.ttftNanos(), words);
        add("TPOT", limits.tpotNanos(), words);
        add("E2EL", limits.e2elNanos(), words);
        return String.join(", ", words);
    }

    private static void add(String name, long nanos, List<String> words) {
        if (nanos != ServiceLevels.Limits.OFF) {
            words.add(String.format(Locale.ROOT, "%s ≤ %.4g ms", name, nanos / NANOS_PER_MILLI));
        }
    }
}
