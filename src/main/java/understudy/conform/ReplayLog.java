package understudy.conform;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.KvSnapshot;

/** Log, by step, of a replica's decisions on a recorded run. A step of which nothing is heard is an empty one. */
public final class ReplayLog {
    private final RecordedRun run;
    private final @Nullable PlanSummary[] plans;
    private final @Nullable KvSnapshot[] states;
    private final List<Map<String, Object>> planned = new ArrayList<>();
    private final List<List<String>> finished = new ArrayList<>();

    /** Creates an empty log, for as many steps as were recorded. */
    public ReplayLog(RecordedRun run) {
        this.run = run;
        int numSteps = run.steps().size();
        plans = new @Nullable PlanSummary[numSteps];
        states = new @Nullable KvSnapshot[numSteps];
        for (int i = 0; i < numSteps; i++) {
            finished.add(new ArrayList<>());
            planned.add(Map.of());
        }
    }

    /** Records the plan of a step and the KV cache after it; steps beyond the recording are passed over. */
    public void onPlan(long step, PlanSummary plan, KvSnapshot state, Map<String, Object> fields) {
        if (step < plans.length) {
            planned.set((int) step, fields);
            plans[(int) step] = plan;
            states[(int) step] = state;
        }
    }

    /** Records a request that ended with the result applied in a step. */
    public void onFinished(long step, long requestId) {
        if (step < finished.size()) {
            finished.get((int) step).add(run.requests().get((int) requestId).id());
        }
    }

    /** Returns the whole run. */
    public ReplayedRun toRun(RecordedRun.End end, long numUnfinished) {
        var decisions = new ArrayList<StepDecision>(plans.length);
        int numUsable = run.config().numBlocks() - 1;
        var state = new KvSnapshot(List.of(), numUsable, 0, 0);
        for (int step = 0; step < plans.length; step++) {
            var plan = plans[step];
            var after = states[step];
            if (plan == null || after == null) {
                plan = PlanSummary.EMPTY;
                after = new KvSnapshot(List.of(), numUsable, state.numStored(), state.numRemoved());
            }
            decisions.add(plan.decision(state, after, finished.get(step), planned.get(step), Map.of()));
            state = after;
        }
        return new ReplayedRun(decisions, end, numUnfinished);
    }
}
