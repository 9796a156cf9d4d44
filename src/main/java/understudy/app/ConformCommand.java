package understudy.app;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import understudy.app.console.ConsoleCommand;
import understudy.conform.ActorReplay;
import understudy.conform.Conformance;
import understudy.conform.DirectReplay;
import understudy.conform.RecordedRun;
import understudy.conform.RecordedRunReader;
import understudy.conform.sglang.SglangActorReplay;
import understudy.conform.sglang.SglangRecording;
import understudy.conform.sglang.SglangReplay;
import understudy.settings.ScenarioException;
import understudy.workload.files.TraceException;

/** Compares our schedulers' decisions with recorded ones of vLLM's and SGLang's. */
@Command(
        name = "conform",
        mixinStandardHelpOptions = true,
        description =
                "Replays recorded decisions of the real schedulers of vLLM (V1) and SGLang, and compares every step.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:every step is identical", "1:something differs, or is not replayed", "2:bad input"},
        footer = {
            "",
            "Examples:",
            "  understudy conform vllm-scheduler.json",
            "  understudy conform sglang-scheduler.json.gz",
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
            description = "Fewest running requests of vLLM for which those that decode are scheduled as one, which must"
                    + " come to the same; 0 is never. Default: ${DEFAULT-VALUE}.")
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
            if (SglangRecording.isIn(file)) {
                SglangRecording.readAll(file).forEach(recording -> out.println(compare(recording)));
            } else {
                compareVllm(file, out);
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

    private void compareVllm(Path file, PrintWriter out) {
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

    private String compare(RecordedRun run) {
        if (!run.config().notReplayed().isEmpty()) {
            numRuns++;
            numRunsNotReplayed++;
            return "workload " + numRuns + " (" + describe(run) + "): not replayed: "
                    + String.join(", ", run.config().notReplayed());
        }
        return compare(
                describe(run),
                run.steps().size(),
                () -> Conformance.of(run, usesActors ? ActorReplay.replay(run) : DirectReplay.replay(run)));
    }

    private String compare(SglangRecording recording) {
        return compare(
                recording.description(),
                recording.steps().size(),
                () -> usesActors ? SglangActorReplay.replay(recording) : SglangReplay.replay(recording));
    }

    private String compare(String description, int numRecorded, Supplier<Conformance> replay) {
        numRuns++;
        String name = "workload " + numRuns + " (" + description + ")";
        Conformance conformance;
        try {
            conformance = replay.get();
        } catch (IllegalStateException e) {
            // What was recorded cannot have happened like that, so at some step we differ; which one is not known.
            numSteps += numRecorded;
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
