package understudy.app;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import understudy.app.console.BreakOff;
import understudy.app.console.ConsoleCommand;
import understudy.app.console.LogLevel;
import understudy.app.emit.DeploymentFormat;
import understudy.plan.Candidates;
import understudy.plan.Loads;
import understudy.plan.PlanJson;
import understudy.plan.PlanPage;
import understudy.plan.PlanReport;
import understudy.plan.PlanSearch;
import understudy.plan.PlanSettings;
import understudy.plan.PlanText;
import understudy.scenario.Scenario;
import understudy.scenario.ScenarioFile;
import understudy.settings.ScenarioException;
import understudy.settings.Section;
import understudy.sweep.PointExecutor;
import understudy.sweep.SweepJob;
import understudy.sweep.SweepPlan;
import understudy.sweep.SweepPoint;
import understudy.sweep.remote.Build;
import understudy.sweep.remote.ClusterExecutor;

/** Finds the cheapest deployment that keeps a service level. */
@Command(
        name = "plan",
        mixinStandardHelpOptions = true,
        description = {
            "Finds the cheapest deployment that keeps a service level: what arrives, what must be kept, what GPUs cost"
                    + " and which deployments there may be stand in a file, in options, or in both.",
            "",
            "Candidates that do not fit into memory are left out. The others are run with short loads first, and only"
                    + " the cheapest ones that these do not refute with the whole load."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:a candidate keeps the service level",
            "1:an invariant was broken, or the cluster has come to its end",
            "2:bad input, or a file that cannot be written",
            "3:no candidate keeps the service level",
            "130:broken off by Ctrl-C; with --out the same command goes on"
        },
        footer = {
            "",
            "Examples:",
            "  understudy plan conf/plan/chat.conf --html plan.html",
            "  understudy plan conf/plan/chat.conf --emit kubernetes --emit-dir deployment",
            "  understudy plan conf/plan/chat.conf --slo tpot.p99=20ms --out results",
            "  understudy plan --model llama-3.1-8b --gpus h100,a100 --rate 20 --input 1000 --output 200"
                    + " --ttft-p99 500ms --tpot-p99 30ms --price h100=2.5,a100=1.5"
        })
final class PlanCommand extends ConsoleCommand {
    private static final String JOURNAL = "points.jsonl";
    private static final String SCENARIO = "scenario.conf";
    private static final String JSON_REPORT = "plan.json";
    private static final List<String> KV_SIZES = List.of("kv-cache.num-gpu-blocks", "engine.sglang.max-total-tokens");
    private static final int FAILED = 1;
    private static final int MISSED = 3;
    private static final int INTERRUPTED = 130;

    @Parameters(paramLabel = "PLAN", arity = "0..1", description = "File with a section plan, in HOCON; see conf/plan.")
    private @Nullable String planFile;

    @Mixin
    private final PlanOptions options = new PlanOptions();

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "Sets one setting of all scenarios, over environment, plan and file. Repeatable.")
    private Map<String, String> settings = new LinkedHashMap<>();

    @Option(
            names = "--exhaustive",
            description = "Runs every candidate with the whole load, to compare the search with.")
    private boolean isExhaustive;

    @Option(
            names = "--jobs",
            paramLabel = "N",
            description = "Runs at a time, without --cluster. Default: one for each processor.")
    private int numJobs = Runtime.getRuntime().availableProcessors();

    @Option(
            names = "--cluster",
            description = "Has the runs done by other processes, on this machine or others: understudy worker --join"
                    + " HOST:PORT. Results are the same.")
    private boolean isCluster;

    @Mixin
    private final ClusterOptions cluster = new ClusterOptions();

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description = "Writes the findings as JSON; - is stdout, and then nothing else goes there.")
    private @Nullable String jsonFile;

    @Option(names = "--html", paramLabel = "FILE", description = "Writes a page with pictures, complete in one file.")
    private @Nullable String htmlFile;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description =
                    "Keeps results in a directory, as " + JOURNAL + ", so that the same command goes on where it was"
                            + " broken off, and writes " + JSON_REPORT + " there at the end.")
    private @Nullable String outDirectory;

    @Option(
            names = "--winner",
            paramLabel = "FILE",
            description = "Writes the scenario of the cheapest that keeps the level, for run and serve.")
    private @Nullable String winnerFile;

    @Option(
            names = "--emit",
            paramLabel = "FORMAT",
            description = "Writes what starts the servers of the cheapest that keeps the level, as 'understudy emit':"
                    + " commands, compose, kubernetes.")
    private @Nullable String emitFormat;

    @Option(
            names = "--emit-dir",
            paramLabel = "DIR",
            description = "Folder of these files, with the scenario beside them. Default: ${DEFAULT-VALUE}.")
    private Path emitFolder = Path.of(EmitCommand.FOLDER);

    PlanCommand() {
        super(new LogLevel(LogLevel.Level.ERROR));
    }

    @Override
    public Integer call() throws Exception {
        if (numJobs < 1) {
            throw new ScenarioException("--jobs " + numJobs + ": must be at least 1");
        }
        var output = SweepOutput.checked(console(), jsonFile, outDirectory, htmlFile);
        var format = emitFormat == null ? null : EmitCommand.format("--emit", emitFormat);
        if (format != null) {
            EmitCommand.requireFolder("--emit-dir", emitFolder);
        }
        var plan = PlanSettings.read(options.over(planFile));
        var job = job(plan);
        warnOfFixedMemory(plan, job);
        var candidates = Candidates.of(plan, settingsOfOne -> scenario(job, plan, settingsOfOne));
        var loads = loads(job, plan, candidates);
        var search = new PlanSearch(candidates.units(), plan.counts(), plan.maxGpus(), loads, isExhaustive);
        if (search.numCandidates() == 0) {
            throw new ScenarioException(
                    "plan.candidates.max-gpus is " + plan.maxGpus() + ", and " + "every candidate has more");
        }
        var report = new PlanReport(candidates, loads, plan.search().numSeeds(), search);
        var executor = executor(job);
        var onInterrupt = new BreakOff(executor::stop);
        try (executor;
                var sweep = job.sweep(executor, output.file(JOURNAL))) {
            var run = new PlanRun(sweep, search, report, plan, trial -> point(job, plan, loads, trial));
            if (!run.finish()) {
                return INTERRUPTED;
            }
            int written = write(output, plan, report);
            var winner = report.winner();
            if (format != null && winner.isPresent()) {
                var own = winner.get().candidate().settings();
                written = Math.max(written, console().write(() -> emit(format, plan, job, own)));
            }
            return written;
        } catch (ClusterExecutor.ClusterEndedException e) {
            console().warn(String.valueOf(e.getMessage()));
            return FAILED;
        } finally {
            onInterrupt.close();
        }
    }

    private SweepJob job(PlanSettings plan) {
        var all = new LinkedHashMap<>(plan.settings());
        all.putAll(settings);
        return new SweepJob(
                new SweepPlan(List.of(plan.scenario()), List.of(), plan.search().seeds(), Optional.empty()),
                new ScenarioFile(System.getenv()),
                all,
                Understudy.Version.text());
    }

    /** A KV cache of one server, as adopted, is not that of other GPUs. */
    private void warnOfFixedMemory(PlanSettings plan, SweepJob job) {
        var scenario = job.merged(new SweepPoint(plan.scenario(), Map.of()));
        for (String key : KV_SIZES) {
            if (!scenario.isDefault(key) && !settings.containsKey(key)) {
                console()
                        .warn("all candidates have " + key + " = " + scenario.text(key) + "; --set " + key
                                + "=auto takes what the GPUs of each hold");
            }
        }
    }

    private static Scenario scenario(SweepJob job, PlanSettings plan, Map<String, String> settings) {
        return Scenario.read(job.merged(new SweepPoint(plan.scenario(), settings)));
    }

    private static Loads loads(SweepJob job, PlanSettings plan, Candidates candidates) {
        var scenario = scenario(job, plan, candidates.units().get(0).settings(1));
        if (plan.limits().isEmpty() && !scenario.serviceLevels().areSet()) {
            throw new ScenarioException(
                    "plan.slo has no limit: set plan.slo.ttft.p99, plan.slo.tpot.p99 or another one, such"
                            + " as --ttft-p99 500ms");
        }
        var search = plan.search();
        long whole = search.numRequests();
        if (whole == 0) {
            try (var workload = scenario.workloadSource().open()) {
                whole = workload.total()
                        .orElseThrow(
                                () -> new ScenarioException("plan.search.requests is auto, but the workload does not"
                                        + " say how many requests it has; set it, or --requests"));
            }
        }
        return Loads.of(whole, search.fewestRequests(), search.eta());
    }

    /** Returns the scenario of a candidate with one of the loads. */
    private static SweepPoint point(SweepJob job, PlanSettings plan, Loads loads, PlanSearch.Trial trial) {
        var own = new LinkedHashMap<>(trial.candidate().settings());
        String kind = job.merged(new SweepPoint(plan.scenario(), Map.of())).text("workload.kind");
        boolean isDrawn = kind.equals("generated") || kind.equals("burst");
        own.put(isDrawn ? "workload.requests" : "workload.limit", String.valueOf(loads.numRequests(trial.load())));
        return new SweepPoint(plan.scenario(), own);
    }

    private PointExecutor executor(SweepJob job) throws IOException {
        if (!isCluster) {
            cluster.requireUnset();
            return job.local(numJobs);
        }
        var node = cluster.driver();
        var executor = new ClusterExecutor(job, node, Build.of(job.version()), console()::warn);
        console().warn("workers join by: understudy worker --join " + node.address() + cluster.forWorkers());
        return executor;
    }

    private int write(SweepOutput output, PlanSettings plan, PlanReport report) {
        int written = output.write(
                PlanJson.write(report),
                JSON_REPORT,
                PlanText.write(report),
                out -> PlanPage.write(report, facts(plan), out));
        var winner = report.winner();
        if (winner.isEmpty()) {
            return written == 0 ? MISSED : written;
        }
        int inFile = winnerFile == null
                ? 0
                : console()
                        .write(() -> NewFile.write(
                                Path.of(winnerFile),
                                scenarioText(plan, winner.get().candidate().settings(), Path.of(winnerFile))));
        return Math.max(written, inFile);
    }

    private void emit(DeploymentFormat format, PlanSettings plan, SweepJob job, Map<String, String> own)
            throws IOException {
        var scenario = emitFolder.resolve(SCENARIO);
        var files = new LinkedHashMap<String, String>();
        files.put(SCENARIO, scenarioText(plan, own, scenario));
        files.putAll(EmitCommand.files(scenario.toString(), job.merged(new SweepPoint(plan.scenario(), own)), format));
        EmitCommand.write(files, emitFolder, console().err());
    }

    /** Returns a scenario that says what differs from the plan's own one, or from the defaults. */
    private String scenarioText(PlanSettings plan, Map<String, String> own, Path file) {
        var all = new LinkedHashMap<>(plan.settings());
        all.putAll(settings);
        all.putAll(own);
        var folder = file.toAbsolutePath().getParent();
        String include = plan.scenario().isEmpty() || folder == null
                ? ""
                : "include \"" + folder.relativize(Path.of(plan.scenario()).toAbsolutePath()) + "\"\n";
        return include + Section.of(all).render();
    }

    private Map<String, String> facts(PlanSettings plan) {
        var facts = new LinkedHashMap<String, String>();
        if (planFile != null) {
            facts.put("Plan", planFile);
        }
        if (!plan.scenario().isEmpty()) {
            facts.put("Scenario", plan.scenario());
        }
        facts.put("Settings of all candidates", plan.settings().toString());
        facts.put("Prices for an hour", plan.prices().toString());
        facts.put("Version", Understudy.Version.text());
        return facts;
    }
}
