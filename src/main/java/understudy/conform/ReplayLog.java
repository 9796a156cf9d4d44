package understudy.conform;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Log, by step, of a replica's decisions on a recorded run; steps beyond the recording are passed over. */
final class ReplayLog {
    private final RecordedRun run;
    private final @Nullable PlannedStep[] planned;
    private final List<List<String>> finished = new ArrayList<>();

    /** Creates an empty log, for as many steps as were recorded. */
    ReplayLog(RecordedRun run) {
        this.run = run;
        planned = new @Nullable PlannedStep[run.numSteps()];
        for (int i = 0; i < planned.length; i++) {
            finished.add(new ArrayList<>());
        }
    }

    /** Records the plan of a step. */
    void onPlanned(PlannedStep step) {
        if (step.step() < planned.length) {
            planned[step.step()] = step;
        }
    }

    /** Records a request that ended with the result applied in a step. */
    void onFinished(long step, long requestId) {
        if (step < planned.length) {
            finished.get((int) step).add(run.requests().get((int) requestId).id());
        }
    }

    /** Returns the whole run, of which each step has been planned. */
    ReplayedRun toRun(RecordedRun.End end, List<List<Object>> kvEvents, long numUnfinished) {
        var decisions = new ArrayList<StepDecision>(planned.length);
        for (int step = 0; step < planned.length; step++) {
            decisions.add(Objects.requireNonNull(planned[step]).decision(finished.get(step)));
        }
        return new ReplayedRun(decisions, end, kvEvents, numUnfinished);
    }
}
