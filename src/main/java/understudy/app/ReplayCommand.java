package understudy.app;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import understudy.app.console.BreakOff;
import understudy.app.console.ConsoleCommand;
import understudy.app.console.StatusLine;
import understudy.app.replay.ReplayPlan;
import understudy.replay.BlockTraceReader;
import understudy.replay.ReplayReport;
import understudy.runtime.Stopwatch;
import understudy.settings.ScenarioException;

/** Replays traces against prefix caches of many policies and capacities. */
@Command(
        name = "replay",
        mixinStandardHelpOptions = true,
        description = {
            "Says what a prefix cache would have hit on a trace, for every policy and capacity, without emulating a"
                    + " cluster.",
            "A hit is the longest prefix of a prompt of which all blocks are in the cache when the request arrives."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done",
            "2:bad input, or a file that cannot be written",
            "130:broken off by Ctrl-C, nothing written"
        },
        footer = {
            "",
            "Examples:",
            "  understudy replay conversation_trace.jsonl",
            "  understudy replay conversation_trace.jsonl --policy lru,s3fifo --capacity 1000,4096,10%% --json -",
            "  understudy replay monday.jsonl.gz tuesday.jsonl.gz --csv rates.csv --html rates.html"
        })
final class ReplayCommand extends ConsoleCommand {
    private static final int INTERRUPTED = 130;
    private static final int DERIVED = 0;

    @Parameters(
            paramLabel = "TRACE",
            arity = "1..*",
            description = "Mooncake traces, JSON lines, gzip'd or not; several are one stream, in this order.")
    private List<Path> files;

    @Option(
            names = "--policy",
            paramLabel = "NAME",
            split = ",",
            description = "What to evict first: lru, lfu, lfu-fifo, fifo, s3fifo, arc, lru-longest-prefix; belady and"
                    + " belady-bypass, which know the future; infinite. Default: all.")
    private @Nullable List<String> policies;

    @Option(
            names = "--capacity",
            paramLabel = "BLOCKS",
            split = ",",
            description = "Blocks in the cache, or a share of the trace's different blocks, such as 10%%. Default:"
                    + " 1%%,2%%,5%%,10%%,20%%,50%%.")
    private @Nullable List<String> capacities;

    @Option(
            names = "--block-size",
            paramLabel = "TOKENS",
            description =
                    "Prompt tokens per hash id. Default: 512 if that goes with the lengths in the trace, else what"
                            + " does.")
    private @Nullable Integer blockSize;

    @Option(
            names = "--small-ratio",
            paramLabel = "SHARE",
            defaultValue = "0.1",
            description = "Share of s3fifo's small queue. Default: ${DEFAULT-VALUE}.")
    private double smallRatio;

    @Option(
            names = "--max-freq",
            paramLabel = "N",
            defaultValue = "3",
            description = "Where s3fifo stops counting. Default: ${DEFAULT-VALUE}.")
    private int maxFreq;

    @Option(names = "--limit", paramLabel = "N", description = "Reads the first N requests only.")
    private @Nullable Long limit;

    @Option(names = "--per-request", description = "Adds prompt and hit tokens of every request to the JSON.")
    private boolean perRequest;

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description = "Writes the results as JSON; - is stdout, and then nothing else goes there.")
    private @Nullable String jsonFile;

    @Option(names = "--csv", paramLabel = "FILE", description = "Writes one line per policy and capacity; or -.")
    private @Nullable String csvFile;

    @Option(
            names = "--html",
            paramLabel = "FILE",
            description = "Writes a page with charts, complete in one file; or -.")
    private @Nullable String htmlFile;

    @Override
    public Integer call() throws Exception {
        var watch = Stopwatch.start();
        check();
        var output = new ReplayOutput(console(), files, jsonFile, csvFile, htmlFile);
        var plan = ReplayPlan.of(policies, capacities, smallRatio, maxFreq);
        try (var reader = new BlockTraceReader(
                        files, blockSize == null ? DERIVED : blockSize, limit == null ? 0 : limit);
                var replay = new TraceReplay(reader, plan, perRequest, StatusLine.onStderr())) {
            return run(replay, plan, output, watch);
        }
    }

    private int run(TraceReplay replay, ReplayPlan plan, ReplayOutput output, Stopwatch watch) throws Exception {
        var onInterrupt = new BreakOff(replay::stop);
        try {
            LoggerFactory.getLogger(ReplayCommand.class).info("the replay has started");
            var outcome = replay.run(console()::warn);
            var report = new ReplayReport(
                    files.stream().map(Path::toString).toList(),
                    outcome.chunks(),
                    outcome.blockSize(),
                    plan.smallRatio(),
                    plan.maxFreq(),
                    outcome.sharing(),
                    outcome.results());
            return output.write(report, watch.seconds());
        } catch (TraceReplay.Stopped e) {
            console().warn("broken off, nothing written");
            return INTERRUPTED;
        } finally {
            onInterrupt.close();
        }
    }

    private void check() {
        if (blockSize != null && blockSize < 1) {
            throw new ScenarioException("--block-size is " + blockSize + ", must be at least 1");
        }
        if (limit != null && limit < 1) {
            throw new ScenarioException("--limit is " + limit + ", must be at least 1");
        }
        if (perRequest && jsonFile == null) {
            throw new ScenarioException("--per-request adds to the JSON, which needs --json");
        }
    }
}
