package understudy.app;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import understudy.app.console.BreakOff;
import understudy.app.console.ConsoleCommand;
import understudy.app.console.LogLevel;
import understudy.app.console.StatusLine;
import understudy.runtime.Stopwatch;
import understudy.scenario.ScenarioFile;
import understudy.settings.ScenarioException;
import understudy.sweep.PointExecutor;
import understudy.sweep.Search;
import understudy.sweep.Sweep;
import understudy.sweep.SweepColumns;
import understudy.sweep.SweepJob;
import understudy.sweep.SweepJson;
import understudy.sweep.SweepPage;
import understudy.sweep.SweepPlan;
import understudy.sweep.SweepRow;
import understudy.sweep.Variation;
import understudy.sweep.remote.Build;
import understudy.sweep.remote.ClusterExecutor;

/** Runs scenarios with settings that vary. */
@Command(
        name = "sweep",
        mixinStandardHelpOptions = true,
        description = {
            "Runs scenarios with every combination of settings, or seeks the highest or lowest value of one that keeps"
                    + " the service level, and prints a table.",
            "",
            "With --out each result is kept as soon as it is there: the same command goes on where it was broken off,"
                    + " and values that were added later cost their own runs only."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done",
            "1:an invariant was broken, or the cluster has come to its end",
            "2:bad input, or a file that cannot be written",
            "130:broken off by Ctrl-C, rows that were done"
        },
        footer = {
            "",
            "Examples:",
            "  understudy sweep conf/demo.conf --vary router.policy=round-robin,prefix-aware --seeds 5",
            "  understudy sweep conf/demo.conf --vary cluster.replicas=1..8*2 --vary engine.max-num-seqs=64,256 --out"
                    + " results",
            "  understudy sweep conf/demo.conf --set slo.ttft=500ms --max workload.arrivals.request-rate=1..200",
            "  understudy sweep conf/demo.conf --set slo.ttft=2s --min cluster.replicas=1..64",
            "  understudy sweep conf/pd.conf --vary"
                    + " cluster.groups.prefill.replicas,cluster.groups.decode.replicas=1/3,2/2,3/1",
            "  understudy sweep conf/demo.conf --vary latency.gpu,scaling.gpu-hour-price=a100-sxm/1.5,h100-sxm/2.5",
            "  understudy sweep conf/demo.conf --vary cluster.replicas=1..64 --out results --cluster"
        })
final class SweepCommand extends ConsoleCommand {
    private static final String JOURNAL = "points.jsonl";
    private static final String JSON_REPORT = "sweep.json";
    private static final int FAILED = 1;
    private static final int INTERRUPTED = 130;

    @Parameters(paramLabel = "SCENARIO", arity = "1..*", description = "Scenario files, HOCON or YAML; see conf/.")
    private List<String> scenarios = new ArrayList<>();

    @Option(
            names = "--vary",
            paramLabel = "KEY=VALUES",
            description = "Values of a setting: A,B,C or FROM..TO (+STEP, *FACTOR). Several keys that vary together:"
                    + " KEY1,KEY2=A1/A2,B1/B2. Repeatable; all combinations are run.")
    private List<String> variations = new ArrayList<>();

    @Option(
            names = "--max",
            paramLabel = "KEY=LOWEST..HIGHEST",
            description = "Seeks the highest value of a setting that keeps the service level (section slo).")
    private @Nullable String max;

    @Option(
            names = "--min",
            paramLabel = "KEY=LOWEST..HIGHEST",
            description = "Seeks the lowest value of a setting that keeps the service level.")
    private @Nullable String min;

    @Option(
            names = "--tolerance",
            paramLabel = "SHARE",
            defaultValue = "0.01",
            description = "How close --max and --min come, as a share of the value. Default: ${DEFAULT-VALUE}; whole"
                    + " numbers are found exactly.")
    private double tolerance;

    @Option(
            names = "--seeds",
            paramLabel = "N",
            description =
                    "Runs each combination with the seeds 1 to N; the table has means and 95 %% confidence intervals."
                            + " A search wants the service level kept with each of them.")
    private int numSeeds;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "Sets one setting of all runs, over environment (UNDERSTUDY_KEY) and file. Repeatable.")
    private Map<String, String> settings = new LinkedHashMap<>();

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
            names = "--columns",
            paramLabel = "KEYS",
            split = ",",
            description = "Figures of the table, as run --json names them, with dots between levels.")
    private List<String> columns = new ArrayList<>();

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description = "Writes all rows as JSON; - is stdout, and then nothing else goes there.")
    private @Nullable String jsonFile;

    @Option(
            names = "--html",
            paramLabel = "FILE",
            description = "Writes a page with the table and its picture, complete in one file.")
    private @Nullable String htmlFile;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description = "Keeps results in a directory, as " + JOURNAL + ", and writes " + JSON_REPORT
                    + " there at the end.")
    private @Nullable String outDirectory;

    SweepCommand() {
        super(new LogLevel(LogLevel.Level.ERROR));
    }

    @Override
    public Integer call() throws Exception {
        var output = SweepOutput.checked(console(), jsonFile, outDirectory, htmlFile);
        var job = new SweepJob(plan(), new ScenarioFile(System.getenv()), settings, Understudy.Version.text());
        job.check();
        var executor = executor(job);
        var onInterrupt = new BreakOff(executor::stop);
        // The executor ends before the handler does: Ctrl-C waits until the cluster is left.
        try (executor;
                var sweep = job.sweep(executor, output.file(JOURNAL))) {
            var rows = await(sweep, sweep.start(), job.plan().maxRuns());
            boolean isPartial = rows.size() < job.plan().combinations().size();
            var table = SweepColumns.of(rows, columns);
            int exitCode = output.write(
                    SweepJson.write(rows, isPartial),
                    JSON_REPORT,
                    table.table(rows),
                    out -> new SweepPage(rows, table).write("Sweep", facts(), out));
            return isPartial ? INTERRUPTED : exitCode;
        } catch (ClusterExecutor.ClusterEndedException e) {
            console().warn(String.valueOf(e.getMessage()));
            return FAILED;
        } finally {
            onInterrupt.close();
        }
    }

    private SweepPlan plan() {
        if (max != null && min != null) {
            throw new ScenarioException("--max does not go with --min");
        }
        if (numSeeds < 0 || numJobs < 1) {
            throw new ScenarioException("--seeds must be at least 0, and --jobs at least 1");
        }
        var search = max == null && min == null
                ? Optional.<Search>empty()
                : Optional.of(Search.parse(max == null ? String.valueOf(min) : max, max != null, tolerance));
        return new SweepPlan(
                scenarios,
                variations.stream().map(Variation::parse).toList(),
                LongStream.rangeClosed(1, numSeeds).boxed().toList(),
                search);
    }

    private Map<String, String> facts() {
        var facts = new LinkedHashMap<String, String>();
        facts.put("Scenario", String.join(", ", scenarios));
        if (!settings.isEmpty()) {
            facts.put("Settings of all runs", settings.toString());
        }
        facts.put("Seeds", numSeeds == 0 ? "of the scenario" : "1 to " + numSeeds);
        facts.put("Version", Understudy.Version.text());
        return facts;
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

    /** Returns the rows that came to their end. */
    private static List<SweepRow> await(Sweep sweep, List<CompletableFuture<SweepRow>> futures, long maxRuns)
            throws InterruptedException {
        var stopwatch = Stopwatch.start();
        StatusLine.onStderr().drawUntilDone(futures, () -> SweepOutput.progress(sweep, maxRuns, stopwatch.seconds()));
        sweep.requireNoFailure();
        return futures.stream()
                .filter(future -> !future.isCompletedExceptionally())
                .map(CompletableFuture::join)
                .toList();
    }
}
