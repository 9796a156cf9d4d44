package understudy.app;

import java.io.IOException;
import java.util.Locale;
import java.util.Objects;
import understudy.app.console.BreakOff;
import understudy.app.console.Console;
import understudy.app.console.StatusLine;
import understudy.bench.Bench;
import understudy.bench.BenchTarget;
import understudy.bench.result.BenchResult;
import understudy.runtime.EpochClock;
import understudy.scenario.Scenario;
import understudy.workload.RandomStreams;
import understudy.workload.Workload;

/**
 * Run of a benchmark on a console, with its progress, which Ctrl-C breaks off.
 *
 * @param scenario the one that the workload is of
 * @param numWarmUps how often its first prompt is sent before
 */
record BenchRun(BenchTarget target, Bench.Options options, Scenario scenario, int numWarmUps, Console console) {

    /** Takes a result, and returns the exit code. */
    interface Reporter {
        int report(BenchResult result) throws IOException;
    }

    /** Sends the workload, and returns what the reporter does. */
    int execute(Workload workload, Reporter reporter) throws IOException, InterruptedException {
        var bench = new Bench(target, options, new RandomStreams(scenario.seed()));
        warmUp(bench);
        var onInterrupt = new BreakOff(bench::stop);
        try {
            return reporter.report(run(bench, workload));
        } finally {
            onInterrupt.close();
        }
    }

    private BenchResult run(Bench bench, Workload workload) throws InterruptedException {
        long startSeconds = EpochClock.seconds();
        var status = StatusLine.onStderr();
        var requests = bench.run(
                workload,
                (numEnded, seconds) ->
                        status.draw(String.format(Locale.ROOT, "%d requests ended, %.0f s", numEnded, seconds)));
        status.clear();
        if (bench.hasMadeUpAnswers()) {
            console.warn("warning: the server returns no token ids, so histories have made-up answers; --prompts text"
                    + " sends the live ones");
        }
        var setup = new BenchResult.Setup(
                target.base().toString(),
                target.backend(),
                target.model(),
                startSeconds,
                workload.total().orElse(requests.size()),
                scenario.traffic(),
                scenario.serviceLevels());
        return new BenchResult(setup, requests, bench.durationNanos(), bench.isStopped());
    }

    private void warmUp(Bench bench) {
        if (numWarmUps == 0) {
            return;
        }
        try (var workload = scenario.workloadSource().open()) {
            bench.warmUp(Objects.requireNonNull(workload.next()), numWarmUps);
        }
    }
}
