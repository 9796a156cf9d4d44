package understudy.app;

import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import understudy.app.console.ConsoleCommand;
import understudy.conform.ActorReplay;
import understudy.conform.Conformance;
import understudy.conform.DirectReplay;
import understudy.conform.RecordedRun;
import understudy.conform.RecordedRunReader;
import understudy.settings.ScenarioException;
import understudy.workload.files.TraceException;

/** Compares our scheduler's decisions with recorded ones of vLLM's. */
@Command(
        name = "conform",
        mixinStandardHelpOptions = true,
        description = "Replays recorded decisions of the real vLLM V1 scheduler and compares every step.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:every step is identical", "1:something differs, or is not replayed", "2:bad input"},
        footer = {
            "",
            "Examples:",
            "  understudy conform vllm-scheduler.json",
            "  understudy conform --actors recorded-1.json.gz recorded-2.json.gz"
        })
final class ConformCommand extends ConsoleCommand {
    private static final int DIFFERS = 1;

    @Parameters(paramLabel = "FILE", arity = "1..*", description = "Recordings, JSON, gzip'd or not.")
    private List<Path> files;

    @Option(
            names = "--actors",
            description =
                    "Replays through the real Replica and KvBlockManager actors in virtual time, not by plain calls.")
    private boolean usesActors;

    @Option(
            names = "--decode-cohort-min-seqs",
            paramLabel = "N",
            defaultValue = "1",
            description = "Fewest running requests for which those that decode are scheduled as one, which must come to"
                    + " the same; 0 is never. Default: ${DEFAULT-VALUE}.")
    private int decodeCohortMinSeqs;

    private int numRuns;
    private int numIdenticalRuns;
    private int numRunsNotReplayed;
    private long numSteps;
    private long numIdenticalSteps;

    @Override
    public Integer call() {
        if (decodeCohortMinSeqs < 0) {
            throw new ScenarioException(
                    "--decode-cohort-min-seqs is " + decodeCohortMinSeqs + "; it must be 0 or more");
        }
        var out = console().out();
        for (var file : files) {
            try (var reader = new RecordedRunReader(file)) {
                var run = reader.next();
                if (run == null) {
                    throw new TraceException(file.toString(), "has no workloads");
                }
                for (; run != null; run = reader.next()) {
                    out.println(compare(run.withDecodeCohortMinSeqs(decodeCohortMinSeqs)));
                }
            }
        }
        out.println(summary());
        out.flush();
        return numIdenticalRuns == numRuns ? 0 : DIFFERS;
    }

    private String summary() {
        String notReplayed = numRunsNotReplayed == 0 ? "" : "; workloads not replayed: " + numRunsNotReplayed;
        return "workloads " + numIdenticalRuns + "/" + (numRuns - numRunsNotReplayed) + ", steps " + numIdenticalSteps
                + "/" + numSteps + " identical" + notReplayed;
    }

    private String compare(RecordedRun run) {
        numRuns++;
        String name = "workload " + numRuns + " (" + describe(run) + ")";
        if (!run.config().notReplayed().isEmpty()) {
            numRunsNotReplayed++;
            return name + ": not replayed: " + String.join(", ", run.config().notReplayed());
        }
        Conformance conformance;
        try {
            conformance = Conformance.of(run, usesActors ? ActorReplay.replay(run) : DirectReplay.replay(run));
        } catch (IllegalStateException e) {
            // The recorded run did happen, so the replay differs from it at some step; which one is not known.
            numSteps += run.steps().size();
            return name + ": the replay has broken off: " + e.getMessage();
        }
        numIdenticalRuns += conformance.isIdentical() ? 1 : 0;
        numSteps += conformance.numSteps();
        numIdenticalSteps += conformance.numIdentical();
        return conformance
                .difference()
                .map(difference -> name + ", " + difference)
                .orElseGet(() -> name + ": " + conformance.numSteps() + " steps identical");
    }

    private static String describe(RecordedRun run) {
        var config = run.config();
        return run.requests().size() + " requests, " + config.numBlocks() + " blocks, "
                + (config.isPriority() ? "priority" : "fcfs")
                + (config.asyncScheduling() ? ", async" : "")
                + (config.enableChunkedPrefill() ? "" : ", not chunked")
                + (config.enablePrefixCaching() ? "" : ", no prefix cache");
    }
}
