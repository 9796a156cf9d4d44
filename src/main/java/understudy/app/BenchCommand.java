package understudy.app;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import understudy.app.console.ConsoleCommand;
import understudy.bench.Bench;
import understudy.bench.BenchUnreachableException;
import understudy.bench.ResultOptions;
import understudy.bench.TargetOptions;
import understudy.bench.WorkloadOptions;
import understudy.bench.result.BenchPage;
import understudy.bench.result.BenchRequest.End;
import understudy.bench.result.BenchResult;
import understudy.scenario.Scenario;
import understudy.settings.ScenarioException;

/** Sends load to a server and reports. */
@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        abbreviateSynopsis = true,
        description = {
            "Sends a workload to any OpenAI-compatible server and reports as vllm bench serve does.",
            "",
            "The workload is that of a scenario, or a data set of vLLM. With --backend the options are those of",
            "'bench-serving', which does as SGLang's benchmark."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done",
            "1:the server cannot be reached, or no request was answered",
            "2:bad input, or a file that cannot be written",
            "130:broken off by Ctrl-C, partial report"
        },
        footer = {
            "",
            "Examples:",
            "  understudy bench http://localhost:8000 --num-prompts 200 --request-rate 10",
            "  understudy bench http://localhost:8000 conf/demo.conf --endpoint /v1/chat/completions --save-result",
            "  understudy bench http://localhost:8000 conf/mooncake.conf --set workload.trace=conversation_trace.jsonl",
            "  understudy bench http://localhost:8000 --dataset-name sharegpt --dataset-path chats.json \\",
            "    --ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 20 --goodput ttft:200 tpot:50"
        })
final class BenchCommand extends ConsoleCommand {
    private static final int NO_ANSWER = 1;
    private static final int INTERRUPTED = 130;
    private static final String MADE_LIKE_VLLM = "made-like-vllm.json";

    @Mixin
    private ScenarioOptions options;

    @Mixin
    private WorkloadOptions workloadOptions;

    @Mixin
    private TargetOptions targetOptions;

    @Mixin
    private ResultOptions resultOptions;

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "SCENARIO",
            description = "Scenario file with a section workload; all of run work here.")
    private @Nullable String scenarioFile;

    @Option(names = "--seed", paramLabel = "N", description = "Seed of every random stream; short for --set seed=N.")
    private @Nullable Long seed;

    @Option(
            names = "--num-warmups",
            paramLabel = "N",
            description =
                    "Sends the first prompt so often before, ${DEFAULT-VALUE} as vLLM's test run; 0 does without.")
    private int numWarmUps = 1;

    @Option(names = "--cancel-rate", paramLabel = "SHARE", description = "Share of streams that are given up, 0 to 1.")
    private double cancelRate;

    @Option(names = "--cancel-after", paramLabel = "N", description = "Chunks before that, ${DEFAULT-VALUE}.")
    private int cancelAfter = 10;

    @Option(
            names = "--max-retries",
            paramLabel = "N",
            description = "More attempts after 429, 503 or no connection, when Retry-After says.")
    private int maxRetries;

    @Option(names = "--save-result", description = "Writes the result as JSON, as vllm bench serve does.")
    private boolean savesResult;

    @Option(names = "--result-dir", paramLabel = "DIR", description = "Where the file goes.")
    private String resultDirectory = ".";

    @Option(names = "--result-filename", paramLabel = "NAME", description = "Its name; default made as vLLM's.")
    private @Nullable String resultFileName;

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description = "Writes the same JSON; - is stdout, and then nothing else goes there.")
    private @Nullable String jsonFile;

    @Option(
            names = "--html",
            paramLabel = "FILE",
            description = "Writes a page with latencies by percentile and over time, complete in one file.")
    private @Nullable String htmlFile;

    @Override
    public Integer call() throws Exception {
        resultOptions.check();
        var output = RunOutput.checked(console(), jsonFile, null, htmlFile, null);
        var file = resultFile();
        var config = options.load(scenarioFile, flags());
        var scenario = Scenario.read(config);
        requireUsable(scenario);
        try (var workload = scenario.workloadSource().open()) {
            var target = targetOptions.target(
                    System.getenv("OPENAI_API_KEY"),
                    workloadOptions.isShareGpt(),
                    scenario.workload().ignoresEos());
            var bench = new Bench.Options(scenario.traffic().isClosedLoop(), maxRetries, cancelRate, cancelAfter);
            return new BenchRun(target, bench, scenario, numWarmUps, console())
                    .execute(workload, result -> report(result, output, file));
        } catch (BenchUnreachableException e) {
            console().warn(String.valueOf(e.getMessage()));
            return NO_ANSWER;
        }
    }

    private Map<String, String> flags() {
        var flags = new LinkedHashMap<>(workloadOptions.settings(scenarioFile != null));
        if (seed != null) {
            flags.put("seed", seed.toString());
        }
        flags.putAll(resultOptions.serviceLevels());
        return flags;
    }

    private void requireUsable(Scenario scenario) {
        if (workloadOptions.hasRate() && scenario.traffic().isSelfTimed()) {
            throw new ScenarioException("--request-rate: this workload.kind has times of its own; --set"
                    + " workload.time-scale=0.5 sends a trace twice as fast");
        }
        if (!(cancelRate >= 0 && cancelRate <= 1) || cancelAfter < 1) {
            throw new ScenarioException("--cancel-rate " + cancelRate + " --cancel-after " + cancelAfter
                    + ": must be a share from 0 to 1, and a number of chunks from 1");
        }
    }

    /** Returns where the result goes, or null for nowhere; a name made as vLLM's is known at the end only. */
    private @Nullable Path resultFile() {
        if (!savesResult && resultFileName == null) {
            return null;
        }
        var directory = Objects.requireNonNull(ReportFiles.path("--result-dir", resultDirectory));
        var file = directory.resolve(Objects.requireNonNullElse(resultFileName, MADE_LIKE_VLLM));
        ReportFiles.requireWritable("--result-dir " + resultDirectory, file);
        return file;
    }

    private int report(BenchResult result, RunOutput output, @Nullable Path file) throws IOException {
        String json = resultOptions.json(result);
        if (result.isClientLate()) {
            console()
                    .warn(String.format(
                            Locale.ROOT,
                            "warning: this client was late: one request in a hundred left %.0f ms or more after it was"
                                    + " due",
                            result.p99LagMillis()));
        }
        int printed = output.print(output.isJsonOnStdout() ? json : resultOptions.text(result));
        output.files().writeJson(json);
        printed = Math.max(
                printed, output.writePage(out -> new BenchPage(result).write(resultOptions.totals(result), out)));
        if (file != null) {
            ReportFiles.writeText(
                    file.endsWith(MADE_LIKE_VLLM) ? file.resolveSibling(resultOptions.fileName(result)) : file, json);
        }
        if (result.isPartial()) {
            return INTERRUPTED;
        }
        return result.count(End.COMPLETED) == 0 ? NO_ANSWER : printed;
    }
}
