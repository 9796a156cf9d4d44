package understudy.app;

import com.typesafe.config.Config;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import understudy.report.ConsoleReport;
import understudy.report.Invariants;
import understudy.report.JsonReport;
import understudy.report.RunReport;
import understudy.workload.Workload;

/** Runs a scenario and reports. */
@Command(
        name = "run",
        mixinStandardHelpOptions = true,
        description = "Runs a scenario in virtual time and prints a report in the manner of vllm bench serve.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:done", "1:an invariant was broken", "2:bad input", "130:broken off by Ctrl-C, partial report"
        },
        footer = {
            "",
            "Examples:",
            "  understudy run conf/demo.conf",
            "  understudy run conf/demo.conf --set router.policy=round-robin --seed 7 --json -",
            "  understudy run conf/mooncake.conf --set workload.trace=conversation_trace.jsonl --out results",
            "  understudy run conf/demo.conf --dry-run"
        })
final class RunCommand implements Callable<Integer> {
    private static final long PROGRESS_MILLIS = 100;
    private static final long SHUTDOWN_SECONDS = 10;
    private static final String STDOUT = "-";
    private static final int INVARIANT_BROKEN = 1;
    private static final int INTERRUPTED = 130;

    @Spec
    private CommandSpec command;

    @Mixin
    @SuppressWarnings("unused") // its option acts when it is parsed
    private LogLevel logLevel;

    @Parameters(paramLabel = "SCENARIO", description = "Scenario file, HOCON or YAML; see conf/.")
    private String scenarioFile;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "Sets one setting, over environment (UNDERSTUDY_KEY) and file. Repeatable.")
    private Map<String, String> settings = new LinkedHashMap<>();

    @Option(names = "--seed", paramLabel = "N", description = "Seed of every random stream; short for --set seed=N.")
    private @Nullable Long seed;

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description = "Writes the report as JSON; - is stdout, and then nothing else goes there.")
    private @Nullable String jsonFile;

    @Option(names = "--out", paramLabel = "DIR", description = "Writes report.json and requests.csv into a directory.")
    private @Nullable Path outDirectory;

    @Option(names = "--save-detailed", description = "Keeps the time of every token in the JSON report.")
    private boolean saveDetailed;

    @Option(names = "--dry-run", description = "Checks the scenario and prints it with all defaults; runs nothing.")
    private boolean dryRun;

    @Override
    public Integer call() throws Exception {
        requireWritable();
        if (dryRun) {
            var checked = checked();
            checked.workload.close();
            print(ScenarioFile.render(checked.config));
            return 0;
        }
        // The actor system comes up while the scenario is read; that saves a good part of a short run's time.
        var starting = CompletableFuture.supplyAsync(Emulation::new);
        try {
            var checked = checked();
            try (checked.workload) {
                return run(starting.join(), checked);
            }
        } finally {
            starting.join().close();
        }
    }

    /** A scenario that was found to be right, and its workload, open. */
    private record Checked(Config config, Scenario scenario, Workload workload) {}

    private Checked checked() {
        var config = new ScenarioFile(System.getenv()).load(scenarioFile, flags());
        var scenario = Scenario.read(config);
        return new Checked(config, scenario, scenario.openWorkload());
    }

    /** Finds out before a long run, not after it, that its report has no place to go. */
    private void requireWritable() {
        if (outDirectory != null && Files.exists(outDirectory) && !Files.isDirectory(outDirectory)) {
            throw new ScenarioException("--out " + outDirectory + ": not a directory");
        }
        if (jsonFile != null && !jsonFile.equals(STDOUT)) {
            var directory = Path.of(jsonFile).toAbsolutePath().getParent();
            if (directory == null || !Files.isDirectory(directory)) {
                throw new ScenarioException("--json " + jsonFile + ": no such directory");
            }
        }
    }

    private Map<String, String> flags() {
        var flags = new LinkedHashMap<>(settings);
        if (seed != null) {
            flags.put("seed", seed.toString());
        }
        if (saveDetailed) {
            flags.put("report.save-detailed", "true");
        }
        return flags;
    }

    private int run(Emulation emulation, Checked checked) throws Exception {
        var scenario = checked.scenario;
        var bar = new ProgressBar(System.err, ProgressBar.isStderrTerminal(), checked.workload.total());
        var isReported = new CountDownLatch(1);
        var onInterrupt = new Thread(() -> breakOff(emulation, isReported), "break-off");
        Runtime.getRuntime().addShutdownHook(onInterrupt);
        emulation.start(scenario.clusterSpec(checked.workload), scenario.speed());
        var result = await(emulation, bar);
        int exitCode = report(result);
        isReported.countDown();
        if (result.run().isPartial()) {
            return INTERRUPTED;
        }
        Runtime.getRuntime().removeShutdownHook(onInterrupt);
        return exitCode;
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
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        } finally {
            bar.clear();
        }
    }

    /** On Ctrl-C: ends the run where it is, and gives the report some time to be printed. */
    private static void breakOff(Emulation emulation, CountDownLatch isReported) {
        emulation.stop();
        try {
            if (!isReported.await(SHUTDOWN_SECONDS, TimeUnit.SECONDS)) {
                System.err.println("no report within " + SHUTDOWN_SECONDS + " s; giving up");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private int report(Emulation.Result result) throws IOException {
        var broken = Invariants.check(result.run());
        if (!broken.isEmpty()) {
            broken.forEach(law -> command.commandLine().getErr().println("invariant broken: " + law));
            return INVARIANT_BROKEN;
        }
        var report = RunReport.of(result.run());
        var requests = result.run().requests();
        String json = JsonReport.write(report, requests, result.host());
        if (outDirectory != null) {
            ReportFiles.writeDirectory(outDirectory, json, requests);
        }
        if (STDOUT.equals(jsonFile)) {
            print(json);
            return 0;
        }
        if (jsonFile != null) {
            ReportFiles.write(Path.of(jsonFile), json);
        }
        print(ConsoleReport.write(report, result.host()));
        return 0;
    }

    private void print(String text) {
        var out = command.commandLine().getOut();
        out.print(text);
        out.flush();
    }
}
