package understudy.app;

import java.io.IOException;
import java.util.Locale;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import understudy.app.console.Console;
import understudy.engine.EngineTraits.Feature;
import understudy.fidelity.Fidelity;
import understudy.fidelity.MeasuredRun;
import understudy.host.Emulation;
import understudy.host.watch.RoutingExplanation;
import understudy.report.Goodput;
import understudy.report.Invariants;
import understudy.report.Outcome;
import understudy.report.Result;
import understudy.report.RunRecord;
import understudy.report.RunReport;
import understudy.report.RunResult;
import understudy.report.StreamingReport;
import understudy.report.Timeline;
import understudy.report.TimelineReport;
import understudy.report.run.RunPage;
import understudy.report.run.RunSetup;
import understudy.scenario.Scenario;

/**
 * Outputs of a run: results on stdout and in files, warnings on stderr. Methods return the exit code that follows.
 *
 * @param console stdout and stderr
 * @param isJsonOnStdout whether the report goes to stdout as JSON, and nothing else does
 * @param files further outputs
 */
record RunOutput(Console console, boolean isJsonOnStdout, ReportFiles files) {
    private static final String STDOUT = "-";
    private static final int MAX_TIMELINE_ROWS = 20;
    private static final int INVARIANT_BROKEN = 1;
    private static final int SLO_MISSED = 3;

    /** Checks that the JSON can be written, to a file or with {@code -} to stdout. */
    static RunOutput checked(Console console, @Nullable String json) {
        return checked(console, json, null, null, null);
    }

    /** Writes a page, if it was asked for, and returns the exit code. */
    int writePage(ReportFiles.Content page) {
        return console.write(() -> files.writeHtml(page));
    }

    /**
     * Checks that everything can be written.
     *
     * @param json file, or {@code -} for stdout
     * @param directory for a set of files
     * @param html file of a page
     * @param trace file of a trace
     */
    static RunOutput checked(
            Console console,
            @Nullable String json,
            @Nullable String directory,
            @Nullable String html,
            @Nullable String trace) {
        boolean isOnStdout = STDOUT.equals(json);
        return new RunOutput(
                console, isOnStdout, ReportFiles.checked(isOnStdout ? null : json, directory, html, trace));
    }

    /**
     * Reports the results of a run, if it has kept all laws.
     *
     * @param setup setup of the run, for the page; asked for only if there is one
     * @param watchers of the run
     * @param failsOnSlo whether to fail if a class has missed its service level, and to name it
     */
    int report(
            Emulation.Result result,
            Scenario scenario,
            Supplier<RunSetup> setup,
            RunWatchers watchers,
            boolean failsOnSlo)
            throws IOException {
        if (watchers.explanation().isPresent()) {
            explain(watchers.explanation().get());
        }
        warnOfRejections(result.run(), scenario);
        var broken = Invariants.check(result.run());
        if (!broken.isEmpty()) {
            broken.forEach(law -> console.warn("invariant broken: " + law));
            return INVARIANT_BROKEN;
        }
        var report = RunReport.of(
                result.run(), scenario.serviceLevels(), scenario.report().timelineSeconds());
        var figures = RunResult.of(report, result.run().requests(), result.host());
        int inFiles = console.write(() -> files.write(figures, result.run().requests(), report.timeline()));
        int inPage = watchers.history()
                .map(history -> new RunPage(
                        setup.get(), result.run(), report, scenario.serviceLevels(), history, result.host()))
                .map(page -> writePage(page::write))
                .orElse(0);
        int onStdout = print(isJsonOnStdout ? figures.indentedJson() : forConsole(figures, report, result, scenario));
        int written = Math.max(Math.max(inFiles, inPage), onStdout);
        int missed = failsOnSlo ? missed(report.goodput()) : 0;
        return written == 0 ? missed : written;
    }

    /** Puts the trace into its place, if there is one. */
    int endTrace(RunWatchers watchers) {
        return console.write(watchers::endTrace);
    }

    /** Prints decisions of the router, and writes them to a file if there is a place for it. */
    private void explain(RoutingExplanation explanation) throws IOException {
        print(explanation.table());
        files.writeRouting(explanation::writeCsv);
    }

    int print(String text) {
        console.out().print(text);
        return console.flush();
    }

    /** Names the classes that have missed their service level. */
    private int missed(Goodput goodput) {
        var missed = goodput.classes().stream().filter(each -> !each.isMet()).toList();
        for (var each : missed) {
            console.warn(String.format(
                    Locale.ROOT,
                    "slo missed by priority %s: attainment %.4f (%d of %d), wanted %s",
                    each.name(),
                    each.attainment(),
                    each.numGood(),
                    each.numRequests(),
                    each.wanted()));
        }
        return missed.isEmpty() ? 0 : SLO_MISSED;
    }

    private void warnOfRejections(RunRecord run, Scenario scenario) {
        long numRejected = run.requests().count(Outcome.REJECTED);
        if (numRejected > 0) {
            console.warn("warning: " + numRejected + " requests were rejected; prompt and answer together may have "
                    + scenario.maxModelLen() + " tokens (engine.max-model-len)");
        }
    }

    private static String forConsole(Result figures, RunReport report, Emulation.Result result, Scenario scenario) {
        String text = figures.text();
        if (scenario.engine().traits().has(Feature.STREAMING_FIGURES)) {
            text += "\n" + StreamingReport.write(report, result.run().requests());
        }
        if (report.timeline().isOn()) {
            text += "\n"
                    + TimelineReport.text(Timeline.of(
                            result.run(),
                            scenario.serviceLevels(),
                            scenario.report().timelineSeconds(),
                            MAX_TIMELINE_ROWS));
        }
        return text
                + MeasuredRun.compare(scenario.workload(), report)
                        .map(Fidelity::table)
                        .orElse("");
    }
}
