package understudy.app;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import understudy.app.console.ConsoleCommand;
import understudy.app.console.StatusLine;
import understudy.describe.TraceDescriber;
import understudy.settings.ScenarioException;
import understudy.settings.Section;
import understudy.workload.RandomStreams;
import understudy.workload.agentic.AgenticTraceReader;
import understudy.workload.files.TraceException;
import understudy.workload.servegen.ServeGenOptions;
import understudy.workload.servegen.ServeGenReader;
import understudy.workload.trace.TraceFormat;
import understudy.workload.trace.TraceReader;

/** Prints the contents of a trace in figures. */
@Command(
        name = "describe",
        mixinStandardHelpOptions = true,
        description = {
            "Says what is in a trace: rates over time, lengths, sessions, what comes again and after how long, the"
                    + " working set, and what an infinite prefix cache would hit. Nothing is emulated.",
            "Memory grows with the different blocks and the sessions, and not with the requests."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:done", "2:bad input, or a file that cannot be written"},
        footer = {
            "",
            "Examples:",
            "  understudy describe conversation_trace.jsonl",
            "  understudy describe today.jsonl.gz --html today.html",
            "  understudy describe BurstGPT_1.csv --json -",
            "  understudy describe deepseek-r1.tar.gz --format servegen",
            "  understudy describe sessions --format agentic"
        })
final class DescribeCommand extends ConsoleCommand {
    private static final String SERVEGEN = "servegen";
    private static final String AGENTIC = "agentic";
    private static final int PROGRESS_REQUESTS = 4096;
    private static final long MAX_SECONDS = 720 * 3600;

    @Parameters(
            paramLabel = "TRACE",
            description = "A file, gzip'd or not, or the directory or archive of servegen or agentic.")
    private Path trace;

    @Option(
            names = "--format",
            paramLabel = "NAME",
            description =
                    "understudy, mooncake, qwen-bailian, csv, azure, burstgpt, vllm-bench, servegen, agentic. Default:"
                            + " what the beginning of the file looks like.")
    private @Nullable String format;

    @Option(
            names = "--csv-block-tokens",
            paramLabel = "TOKENS",
            description = "csv: prompt tokens of one id of shared_prefix_block_ids. Default: ${DEFAULT-VALUE}.")
    private int csvBlockTokens = 16;

    @Option(names = "--limit", paramLabel = "N", description = "Reads the first N requests only.")
    private long limit = Long.MAX_VALUE;

    @Option(
            names = "--seed",
            paramLabel = "N",
            description = "servegen: seed of what is drawn. Default: ${DEFAULT-VALUE}.")
    private long seed;

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description = "Writes the description as JSON; - is stdout, and then nothing else goes there.")
    private @Nullable String jsonFile;

    @Option(names = "--html", paramLabel = "FILE", description = "Writes a page with charts, complete in one file.")
    private @Nullable String htmlFile;

    @Override
    public Integer call() throws Exception {
        if (limit < 1 || csvBlockTokens < 1) {
            throw new ScenarioException("--limit and --csv-block-tokens must be at least 1");
        }
        var output = RunOutput.checked(console(), jsonFile, null, htmlFile, null);
        var known = format();
        var describer = new TraceDescriber();
        try (var reader = open(known)) {
            read(reader, describer);
        }
        if (describer.numRequests() == 0) {
            throw new TraceException(trace.toString(), "the trace has no requests");
        }
        var description = describer.finish(trace.toString(), known);
        output.files().writeJson(description.json());
        int printed = output.print(output.isJsonOnStdout() ? description.json() : description.text());
        return Math.max(printed, output.writePage(description::writePage));
    }

    private void read(TraceReader reader, TraceDescriber describer) {
        var status = StatusLine.onStderr();
        try {
            for (var row = reader.next(); row != null && describer.numRequests() < limit; row = reader.next()) {
                describer.add(row);
                if (describer.numRequests() % PROGRESS_REQUESTS == 0) {
                    status.draw(describer.numRequests() + " requests read");
                }
            }
        } finally {
            status.clear();
        }
    }

    private TraceReader open(String name) {
        if (name.equals(AGENTIC)) {
            return new AgenticTraceReader(trace);
        }
        if (name.equals(SERVEGEN)) {
            var services = List.of(new ServeGenOptions.Service(trace, 1));
            return new ServeGenReader(
                    new ServeGenOptions(services, 0, MAX_SECONDS, 0, true, true), new RandomStreams(seed));
        }
        return Stream.of(TraceFormat.values())
                .filter(each -> Section.nameOf(each).equals(name))
                .findFirst()
                .orElseThrow(() ->
                        new ScenarioException("--format " + name + ": must be one of " + String.join(", ", formats())))
                .open(trace, csvBlockTokens);
    }

    private static List<String> formats() {
        return Stream.concat(Stream.of(TraceFormat.values()).map(Section::nameOf), Stream.of(SERVEGEN, AGENTIC))
                .toList();
    }

    /** Returns the name of the trace's format. */
    private String format() {
        if (format != null) {
            return format;
        }
        if (Files.isDirectory(trace)) {
            return hasChunks() ? SERVEGEN : AGENTIC;
        }
        boolean isZip = trace.toString().endsWith(".zip");
        return isZip ? AGENTIC : TraceFormat.detect(trace).map(Section::nameOf).orElse(SERVEGEN);
    }

    /** Returns whether the directory has files as servegen's. */
    private boolean hasChunks() {
        try (var files = Files.newDirectoryStream(trace, "chunk-*")) {
            return files.iterator().hasNext();
        } catch (IOException e) {
            throw new TraceException(trace.toString(), "cannot be read: " + e.getMessage());
        }
    }
}
