package understudy.report.run;

import java.io.IOException;
import java.io.Writer;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import understudy.report.HostStats;
import understudy.report.ReplicaStats;
import understudy.report.RunRecord;
import understudy.report.RunReport;
import understudy.report.RunResult;
import understudy.report.ServiceLevels;
import understudy.report.Tables;
import understudy.report.html.HtmlChart;
import understudy.report.html.HtmlPage;
import understudy.report.html.HtmlSection;
import understudy.report.html.HtmlSeries;
import understudy.report.html.ResultSections;

/**
 * Page about a run. Equal runs give equal pages but for the section {@code host}.
 *
 * @param history of the same run
 */
public record RunPage(
        RunSetup setup, RunRecord run, RunReport report, ServiceLevels levels, RunHistory history, HostStats host) {
    private static final int MAX_BARS = 128;
    private static final double NANOS_PER_MILLI = 1e6;

    /** Writes the page; the caller closes {@code out}. */
    public void write(Writer out) throws IOException {
        history.end(run.endNanos());
        var page = new HtmlPage("Run of " + setup.scenario());
        VerdictLines.add(report, levels, page);
        addFacts(page);
        page.section(LatencySection.of(run, history));
        LoadSection.of(run, levels).ifPresent(page::section);
        page.section(CourseSection.of(history));
        if (report.replicas().size() > 1) {
            page.section(balance());
        }
        page.section(RequestSection.of(history.sample));
        ResultSections.add(RunResult.of(report, run.requests()), "Replicas and memories", page);
        page.section(configuration()).section(honesty()).section(timing()).write(out);
    }

    private void addFacts(HtmlPage page) {
        page.fact("Answered requests", String.format(Locale.ROOT, "%,d", report.numCompleted()))
                .fact("Replicas", String.valueOf(report.replicas().size()))
                .fact("Virtual time", String.format(Locale.ROOT, "%.2f s", report.durationSeconds()))
                .fact("Median TTFT", millis(report.ttft().p50Nanos()))
                .fact("P99 TTFT", millis(report.ttft().p99Nanos()))
                .fact("Median TPOT", millis(report.tpot().p50Nanos()))
                .fact("Output", String.format(Locale.ROOT, "%,.0f tokens/s", report.outputThroughput()))
                .fact("Prefix hit rate", String.format(Locale.ROOT, "%.1f %%", report.prefixCacheHitRate() * 100))
                .fact("Preemptions", String.format(Locale.ROOT, "%,d", report.numPreemptions()))
                .fact("Service level", report.goodput().isMeasured() ? "set" : "none set")
                .fact("Seed", String.valueOf(setup.seed()))
                .fact("Command", setup.command());
    }

    private static String millis(double nanos) {
        return String.format(Locale.ROOT, "%.1f ms", nanos / NANOS_PER_MILLI);
    }

    private HtmlSection balance() {
        var section = new HtmlSection("balance", "Balance of the replicas");
        if (report.replicas().size() > MAX_BARS) {
            section.paragraph("The first " + MAX_BARS + " replicas; the table below has all.");
        }
        return section.charts(
                bars(
                        "replica-requests",
                        "Requests",
                        new HtmlChart.Axis("requests", ""),
                        HtmlSeries.bars("requests", "accent", of(each -> each.numRequests()))),
                bars(
                        "replica-use",
                        "Time in use, and most KV in use",
                        new HtmlChart.Axis("share", "%"),
                        HtmlSeries.bars("busy", "decode", of(this::busyPercent)),
                        HtmlSeries.bars("peak KV", "loading", of(each -> each.peakKvUsage() * 100))));
    }

    private double busyPercent(ReplicaStats replica) {
        return report.durationSeconds() == 0 ? 0 : replica.busyNanos() / 1e9 / report.durationSeconds() * 100;
    }

    private double[] of(ToDoubleFunction<ReplicaStats> figure) {
        return report.replicas().stream().limit(MAX_BARS).mapToDouble(figure).toArray();
    }

    private HtmlChart bars(String id, String title, HtmlChart.Axis y, HtmlSeries... series) {
        var labels = report.replicas().stream()
                .limit(MAX_BARS)
                .map(each -> each.group() + (each.group().isEmpty() ? "" : " ") + each.replicaIndex())
                .toList();
        return new HtmlChart(
                id, title, HtmlChart.Kind.BARS, new HtmlChart.Axis("replica", ""), y, List.of(series), labels);
    }

    private HtmlSection configuration() {
        var section = new HtmlSection("configuration", "Configuration");
        section.table(
                "Settings that differ from their defaults",
                setup.settings(),
                List.of(
                        Tables.words("Setting", RunSetup.Setting::key),
                        Tables.words("Default", RunSetup.Setting::usual),
                        Tables.words("Value", RunSetup.Setting::value)));
        if (!setup.reasons().isEmpty()) {
            section.paragraph("What follows from them:").list(setup.reasons());
        }
        return section.details("The whole scenario, with all defaults", setup.resolved());
    }

    private HtmlSection honesty() {
        var section = new HtmlSection("not-modelled", "What this run does not model");
        if (!setup.warnings().isEmpty()) {
            section.list(setup.warnings());
        }
        return section.list(setup.notModelled());
    }

    /** The only section that differs between equal runs. */
    private HtmlSection timing() {
        var section = new HtmlSection("host", "Time on this machine")
                .paragraph("All other times of this page are virtual: they follow from scenario and seed, not from the"
                        + " machine.");
        section.paragraph(String.format(
                Locale.ROOT,
                "%.2f s of virtual time took %.2f s of wall time, %.1f times as fast; %,d events, %,d MB of heap in"
                        + " use.",
                report.durationSeconds(),
                host.wallSeconds(),
                report.durationSeconds() / host.wallSeconds(),
                host.numEvents(),
                host.usedHeapBytes() / 1_000_000));
        return section.paragraph(
                host.latenessMaxNanos() == 0
                        ? "The run went as fast as the machine allowed, so nothing could be late."
                        : String.format(
                                Locale.ROOT,
                                "Lateness against the wall clock: p50 %.2f ms, p99 %.2f ms, max %.2f ms.",
                                host.latenessP50Nanos() / NANOS_PER_MILLI,
                                host.latenessP99Nanos() / NANOS_PER_MILLI,
                                host.latenessMaxNanos() / NANOS_PER_MILLI));
    }
}
