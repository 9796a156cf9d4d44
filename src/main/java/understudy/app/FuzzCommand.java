package understudy.app;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import understudy.app.console.BreakOff;
import understudy.app.console.Console;
import understudy.app.console.LogLevel;
import understudy.app.console.StatusLine;
import understudy.fuzz.Check;
import understudy.fuzz.Fuzzer;
import understudy.fuzz.MemoryCheck;
import understudy.fuzz.RunCheck;
import understudy.runtime.Stopwatch;
import understudy.scenario.ScenarioFile;
import understudy.settings.Durations;
import understudy.settings.ScenarioException;
import understudy.settings.Section;

/** Looks for a scenario that breaks a law. */
@Command(
        name = "fuzz",
        mixinStandardHelpOptions = true,
        description = {
            "Draws scenarios from a seed until one breaks a law, and prints the smallest that does.",
            "Each one runs three times, two of them at once: nothing may fail, laws must hold, reports must be equal."
                    + " Then its KV memory is driven by plain calls and compared with a plain model of prefix caching."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:nothing found",
            "1:something found",
            "2:bad input, or a file that cannot be written",
            "130:broken off by Ctrl-C, nothing found until then"
        },
        footer = {
            "",
            "Examples:",
            "  understudy fuzz --duration 10m",
            "  understudy fuzz --seed 7 --runs 200 --only memory --out smallest.conf",
            "  understudy fuzz --seed 7 --run 123",
            "  understudy fuzz smallest.conf"
        })
final class FuzzCommand implements Callable<Integer> {
    private static final int INTERRUPTED = 130;
    private static final double DEFAULT_SECONDS = 60;

    private final Function<@Nullable Part, List<Check>> checks;

    @Spec
    private CommandSpec command;

    @Mixin
    @SuppressWarnings("unused") // its option acts when it is parsed
    private LogLevel logLevel = new LogLevel(LogLevel.Level.ERROR);

    @Parameters(
            paramLabel = "SCENARIO",
            arity = "0..1",
            description = "Checks this scenario alone, instead of drawn ones; see run.")
    private @Nullable String scenarioFile;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "Seed of all scenarios. Default: ${DEFAULT-VALUE}.")
    private long seed;

    @Option(
            names = "--duration",
            paramLabel = "TIME",
            description = "How long to look, such as 90s or 10m. Default: 1m, or no limit with --runs.")
    private @Nullable String duration;

    @Option(names = "--runs", paramLabel = "N", description = "How many scenarios to draw. Default: no limit.")
    private @Nullable Long numRuns;

    @Option(names = "--run", paramLabel = "K", description = "Draws scenario K of the seed alone, from 0.")
    private @Nullable Long onlyRun;

    @Option(
            names = "--only",
            paramLabel = "PART",
            description = "What to check, of any case: ${COMPLETION-CANDIDATES}. Default: both.")
    private @Nullable Part part;

    @Option(names = "--out", paramLabel = "FILE", description = "Writes the smallest scenario found, for run and fuzz.")
    private @Nullable Path outFile;

    /** Part of the program that is checked: a cluster, or a memory alone. */
    enum Part {
        CLUSTER,
        MEMORY
    }

    FuzzCommand() {
        this(FuzzCommand::checks);
    }

    /** Creates a command that checks something else. */
    FuzzCommand(Function<@Nullable Part, List<Check>> checks) {
        this.checks = checks;
    }

    private static List<Check> checks(@Nullable Part part) {
        if (part == null) {
            return List.of(new RunCheck(), new MemoryCheck());
        }
        return List.of(part == Part.CLUSTER ? new RunCheck() : new MemoryCheck());
    }

    @Override
    public Integer call() throws Exception {
        double maxSeconds = maxSeconds();
        var fuzzer = new Fuzzer(seed, checks.apply(part));
        var output = new FuzzOutput(new Console(command.commandLine()), outFile, seed);
        var onInterrupt = new BreakOff(fuzzer::stop);
        try {
            if (scenarioFile != null) {
                return output.scenario(scenarioFile, fuzzer.failure(load(scenarioFile)));
            }
            return onlyRun == null ? search(fuzzer, output, maxSeconds) : output.run(onlyRun, fuzzer.run(onlyRun));
        } finally {
            onInterrupt.close();
        }
    }

    private static Section load(String file) {
        return new ScenarioFile(System.getenv()).load(file, Map.of());
    }

    private int search(Fuzzer fuzzer, FuzzOutput output, double maxSeconds) throws InterruptedException {
        var status = StatusLine.onStderr();
        var stopwatch = Stopwatch.start();
        try {
            for (long run = 0; mayGoOn(fuzzer, stopwatch, maxSeconds); run++) {
                status.draw(FuzzOutput.progress(fuzzer, stopwatch.seconds(), share(fuzzer, stopwatch, maxSeconds)));
                var finding = fuzzer.run(run);
                if (finding.isPresent()) {
                    status.clear();
                    return output.run(run, finding);
                }
            }
        } finally {
            status.clear();
        }
        int exitCode = output.nothing(fuzzer, stopwatch.seconds());
        return fuzzer.isStopped() ? INTERRUPTED : exitCode;
    }

    private boolean mayGoOn(Fuzzer fuzzer, Stopwatch stopwatch, double maxSeconds) {
        return !fuzzer.isStopped() && share(fuzzer, stopwatch, maxSeconds) < 1;
    }

    /** Returns how much of the search is over, from 0 to 1. */
    private double share(Fuzzer fuzzer, Stopwatch stopwatch, double maxSeconds) {
        double ofRuns = numRuns == null ? 0 : (double) fuzzer.numRuns() / numRuns;
        return Math.max(ofRuns, stopwatch.seconds() / maxSeconds);
    }

    private double maxSeconds() {
        boolean isSearch = duration != null || numRuns != null;
        long numWays = Stream.of(isSearch, onlyRun != null, scenarioFile != null)
                .filter(way -> way)
                .count();
        if (numWays > 1) {
            throw new ScenarioException("SCENARIO does not go with --run, nor one of them with --runs or --duration");
        }
        requireAtLeast("--runs", numRuns, 1);
        requireAtLeast("--run", onlyRun, 0);
        if (duration == null) {
            return numRuns == null ? DEFAULT_SECONDS : Double.POSITIVE_INFINITY;
        }
        OptionalDouble nanos = Durations.nanos(duration);
        return nanos.orElseThrow(
                        () -> new ScenarioException("--duration is \"" + duration + "\", must be " + Durations.ALLOWED))
                / 1e9;
    }

    private static void requireAtLeast(String option, @Nullable Long number, long min) {
        if (number != null && number < min) {
            throw new ScenarioException(option + " is " + number + ", must be at least " + min);
        }
    }
}
