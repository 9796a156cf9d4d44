package understudy.app;

import java.util.LinkedHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import understudy.app.console.BreakOff;
import understudy.app.console.ConsoleCommand;
import understudy.app.console.ProgressBar;
import understudy.app.console.StatusLine;
import understudy.fidelity.StepExplanation;
import understudy.host.Emulation;
import understudy.report.run.RunSetup;
import understudy.scenario.Scenario;
import understudy.scenario.ScenarioSummary;
import understudy.scenario.VersionDefaults;
import understudy.settings.ScenarioException;
import understudy.settings.Section;
import understudy.workload.Workload;

/** Runs a scenario and reports. */
@Command(
        name = "run",
        mixinStandardHelpOptions = true,
        description = "Runs a scenario in virtual time and prints a report in the manner of vllm bench serve.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done",
            "1:an invariant was broken",
            "2:bad input, or a file that cannot be written",
            "3:a service level was missed, with --fail-on-slo",
            "130:broken off by Ctrl-C, partial report"
        },
        footer = {
            "",
            "Examples:",
            "  understudy run conf/demo.conf",
            "  understudy run conf/demo.conf --set router.policy=round-robin --seed 7 --json -",
            "  understudy run conf/mooncake.conf --set workload.trace=conversation_trace.jsonl --out results",
            "  understudy run conf/demo.conf --set slo.ttft=200ms --set slo.tpot=20ms --fail-on-slo",
            "  understudy run conf/demo.conf --html report.html --trace trace.json",
            "  understudy run conf/demo.conf --explain-routing 20",
            "  understudy run conf/demo.conf --dry-run",
            "  understudy run conf/validation/rtx-4090-llama-3.1-8b.conf --explain-step 32x1@1000,1x512"
        })
final class RunCommand extends ConsoleCommand {
    private static final long PROGRESS_MILLIS = 100;
    private static final int INTERRUPTED = 130;

    @Mixin
    private ScenarioOptions options;

    @Parameters(paramLabel = "SCENARIO", description = "Scenario file, HOCON or YAML; see conf/.")
    private String scenarioFile;

    @Option(names = "--seed", paramLabel = "N", description = "Seed of every random stream; short for --set seed=N.")
    private @Nullable Long seed;

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description = "Writes the report as JSON; - is stdout, and then nothing else goes there.")
    private @Nullable String jsonFile;

    @Option(names = "--out", paramLabel = "DIR", description = "Writes report.json and requests.csv into a directory.")
    private @Nullable String outDirectory;

    @Option(
            names = "--html",
            paramLabel = "FILE",
            description = "Writes a page with charts, complete in one file: verdict, latencies, course of the run,"
                    + " requests by phase, configuration.")
    private @Nullable String htmlFile;

    @Option(
            names = "--trace",
            paramLabel = "FILE",
            description = "Writes a trace for ui.perfetto.dev: steps, requests by phase, transfers, preemptions.")
    private @Nullable String traceFile;

    @Option(names = "--save-detailed", description = "Keeps the time of every token in the JSON report.")
    private boolean saveDetailed;

    @Option(
            names = "--fail-on-slo",
            description = "Ends with exit code 3 if a class of requests misses its service level (section slo).")
    private boolean failOnSlo;

    @Option(names = "--dry-run", description = "Checks the scenario and prints it with all defaults; runs nothing.")
    private boolean dryRun;

    @Option(
            names = "--explain-step",
            paramLabel = "BATCH",
            description =
                    "Prints where the time of one step goes and runs nothing: groups of SEQUENCESxTOKENS@CONTEXT.")
    private @Nullable String explainedBatch;

    @Option(
            names = "--explain-routing",
            paramLabel = "N",
            description = "Prints the router's first N decisions before the report, and what they looked at;"
                    + " with --out all of it as routing.csv.")
    private int explainedDecisions;

    @Override
    public Integer call() throws Exception {
        var output = RunOutput.checked(console(), jsonFile, outDirectory, htmlFile, traceFile);
        requireDecisions(output);
        if (dryRun) {
            return output.print(dryRun(load()));
        }
        if (explainedBatch != null) {
            return output.print(
                    StepExplanation.table(Scenario.read(load()).latency().model(), explainedBatch));
        }
        // The actor system comes up while the scenario is read; that saves a good part of a short run's time.
        var starting = CompletableFuture.supplyAsync(Emulation::new);
        try {
            var checked = checked(load());
            checked.scenario.warnings().forEach(output.console()::warn);
            try (checked.workload) {
                return run(starting.join(), checked, output);
            }
        } finally {
            starting.join().close();
        }
    }

    private void requireDecisions(RunOutput output) {
        if (explainedDecisions < 0) {
            throw new ScenarioException("--explain-routing " + explainedDecisions + ": must be 0 or more");
        }
        if (explainedDecisions > 0 && output.isJsonOnStdout()) {
            throw new ScenarioException("--explain-routing prints to stdout, and --json - does, too; name a file");
        }
    }

    private String dryRun(Section settings) {
        var checked = checked(settings);
        checked.workload.close();
        var versions = VersionDefaults.profiles(settings).stream().flatMap(profile -> profile.description().stream());
        return comments(versions)
                + reasons(checked.scenario)
                + checked.scenario.resolve(settings).render();
    }

    /** Checked scenario with what it was read from, and its workload, open. */
    private record Checked(Section settings, Scenario scenario, Workload workload) {}

    private Section load() {
        var flags = new LinkedHashMap<String, String>();
        if (seed != null) {
            flags.put("seed", seed.toString());
        }
        if (saveDetailed) {
            flags.put("report.save-detailed", "true");
        }
        return options.load(scenarioFile, flags);
    }

    private Checked checked(Section settings) {
        var scenario = Scenario.read(settings);
        if (failOnSlo && !scenario.serviceLevels().areSet()) {
            throw new ScenarioException(
                    "--fail-on-slo: the scenario has no service level; set slo.ttft, slo.tpot, slo.e2el or slo.classes,"
                            + " such as --set slo.ttft=500ms");
        }
        // A run has no server, but a file that is run today is served tomorrow.
        scenario.server().read();
        return new Checked(settings, scenario, scenario.workloadSource().open());
    }

    /** Writes derived values and warnings as comments, so that the output is still a scenario. */
    private static String reasons(Scenario scenario) {
        var warnings = scenario.warnings().stream().map(warning -> "warning: " + warning);
        return comments(Stream.concat(scenario.reasons().stream(), warnings));
    }

    private static String comments(Stream<String> lines) {
        return lines.map(line -> "# " + line + "\n").collect(Collectors.joining());
    }

    private int run(Emulation emulation, Checked checked, RunOutput output) throws Exception {
        var scenario = checked.scenario;
        var bar = new ProgressBar(StatusLine.onStderr(), checked.workload.total());
        var onInterrupt = new BreakOff(emulation::stop);
        try (var watchers = new RunWatchers(output.files(), explainedDecisions, scenario)) {
            start(emulation, checked, watchers);
            LoggerFactory.getLogger(RunCommand.class).info("the run has started");
            var result = await(emulation, bar);
            int exitCode = Math.max(
                    output.endTrace(watchers),
                    output.report(result, scenario, () -> setup(checked), watchers, failOnSlo));
            return result.run().isPartial() ? INTERRUPTED : exitCode;
        } finally {
            onInterrupt.close();
        }
    }

    private static void start(Emulation emulation, Checked checked, RunWatchers watchers) {
        var spec = checked.scenario.clusterSpec(() -> checked.workload, true);
        double speed = checked.scenario.speed();
        watchers.reader()
                .ifPresentOrElse(reader -> emulation.start(spec, speed, reader), () -> emulation.start(spec, speed));
    }

    private RunSetup setup(Checked checked) {
        return ScenarioSummary.of(checked.scenario, checked.settings, scenarioFile, options.command(scenarioFile));
    }

    private static Emulation.Result await(Emulation emulation, ProgressBar bar) throws Exception {
        try {
            while (true) {
                try {
                    return emulation.await(PROGRESS_MILLIS);
                } catch (TimeoutException e) {
                    bar.draw(emulation.numEnded(), emulation.virtualSeconds(), emulation.wallSeconds());
                }
            }
        } catch (ExecutionException e) {
            throw failure(e);
        } finally {
            bar.clear();
        }
    }

    private static Exception failure(ExecutionException failure) {
        return failure.getCause() instanceof RuntimeException cause ? cause : failure;
    }
}
