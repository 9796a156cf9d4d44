package understudy.app;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import understudy.app.console.StatusLine;
import understudy.plan.PlanReport;
import understudy.plan.PlanSearch;
import understudy.plan.PlanSearch.Trial;
import understudy.plan.PlanSettings;
import understudy.plan.Slo;
import understudy.sweep.Sweep;
import understudy.sweep.SweepPoint;

/**
 * Runs of a plan, round by round.
 *
 * @param point returns the scenario of a trial
 */
record PlanRun(
        Sweep sweep, PlanSearch search, PlanReport report, PlanSettings plan, Function<Trial, SweepPoint> point) {

    /** Runs the search to its end, and returns whether it has come there. */
    boolean finish() throws InterruptedException {
        var slo = new Slo(plan.limits());
        for (var trials = search.next(); !trials.isEmpty(); trials = search.next()) {
            var futures =
                    trials.stream().map(trial -> sweep.run(point.apply(trial))).toList();
            int before = search.numTrials();
            StatusLine.onStderr()
                    .drawUntilDone(
                            futures,
                            () -> progress(
                                    before,
                                    futures.stream()
                                            .filter(CompletableFuture::isDone)
                                            .count(),
                                    futures.size()));
            sweep.requireNoFailure();
            if (futures.stream().anyMatch(CompletableFuture::isCompletedExceptionally)) {
                return false;
            }
            for (int i = 0; i < trials.size(); i++) {
                var trial = trials.get(i);
                var row = futures.get(i).join();
                report.add(trial, row);
                search.add(trial, slo.judge(row.runs(), report.numRequests(trial), report.isWhole(trial)));
            }
        }
        return true;
    }

    private String progress(int before, long numDone, int numTrials) {
        String best = report.winner()
                .map(each -> ", best so far: " + each.candidate().name())
                .orElse("");
        return StatusLine.bar((double) numDone / numTrials) + numDone + "/" + numTrials + " candidates of this round, "
                + before + " before" + best + sweep.status();
    }
}
