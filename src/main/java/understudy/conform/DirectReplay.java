package understudy.conform;

import it.unimi.dsi.fastutil.ints.IntImmutableList;
import it.unimi.dsi.fastutil.ints.IntList;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import understudy.engine.DirectEngine;
import understudy.engine.EngineRequest;
import understudy.engine.StepPlan;
import understudy.engine.StepPlanner;
import understudy.kvcache.KvSnapshot;
import understudy.kvcache.content.KvCacheManager;

/**
 * Replays a recorded run through scheduler and KV cache without actors, by the contract of the recording's driver: add
 * what arrives, plan, then apply the oldest result as soon as one step, or two with asynchronous scheduling, are in
 * flight.
 */
public final class DirectReplay {
    private final RecordedRun run;
    private final StepPlanner planner;
    private final KvCacheManager kvCache;
    private final DirectEngine engine;
    private final ArrayDeque<StepPlan> inFlight = new ArrayDeque<>();
    private KvSnapshot state;
    private long numPreemptions;

    private DirectReplay(RecordedRun run) {
        this.run = run;
        planner = new StepPlanner(run.schedulerConfig(), run.kvCacheConfig());
        kvCache = new KvCacheManager(run.kvCacheConfig());
        engine = new DirectEngine(planner, kvCache);
        state = kvCache.snapshot(IntList.of());
    }

    /** Replays as many steps as were recorded. */
    public static ReplayedRun replay(RecordedRun run) {
        return new DirectReplay(run).replay();
    }

    private ReplayedRun replay() {
        var decisions = new ArrayList<StepDecision>();
        var arrivals = run.additionOrder().iterator();
        int next = arrivals.hasNext() ? arrivals.next() : -1;
        for (int step = 0; step < run.steps().size(); step++) {
            while (next >= 0 && run.requests().get(next).arrivalStep() <= step) {
                planner.add(run.request(next), step);
                next = arrivals.hasNext() ? arrivals.next() : -1;
            }
            decisions.add(decide(step));
        }
        while (!inFlight.isEmpty()) {
            engine.update(inFlight.remove(), run.steps().size());
        }
        return new ReplayedRun(decisions, end(), planner.requests().numUnfinished());
    }

    private StepDecision decide(int step) {
        var plan = engine.plan(step);
        var summary = PlanSummary.of(plan, planner);
        var before = state;
        state = kvCache.snapshot(summary.runningHandles());
        numPreemptions += plan.preempted().size();
        inFlight.add(plan);
        List<String> finished = List.of();
        if (inFlight.size() == run.schedulerConfig().maxStepsInFlight()) {
            finished = names(engine.update(inFlight.remove(), step).finished());
        }
        return summary.decision(before, state, finished);
    }

    private RecordedRun.End end() {
        var stats = kvCache.stats();
        return new RecordedRun.End(
                new IntImmutableList(kvCache.freeOrder()),
                numPreemptions,
                stats.queries(),
                stats.hits(),
                stats.preemptedQueries(),
                stats.preemptedHits());
    }

    private static List<String> names(List<EngineRequest> requests) {
        return requests.stream().map(r -> r.request().name()).toList();
    }
}
