package understudy.conform;

import it.unimi.dsi.fastutil.ints.IntImmutableList;
import it.unimi.dsi.fastutil.ints.IntList;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import understudy.engine.EngineRequest;
import understudy.engine.StepPlan;
import understudy.engine.StepResult;
import understudy.engine.speculation.DraftCounts;
import understudy.engine.vllm.StepPlanner;
import understudy.kvcache.KvCache;
import understudy.kvcache.KvSnapshot;

/**
 * Replays a recorded run through scheduler and KV cache without actors, by the contract of the recording's driver: add
 * what arrives, plan, then apply the oldest result as soon as one step, or two with asynchronous scheduling, are in
 * flight.
 */
public final class DirectReplay {
    private final RecordedRun run;
    private final StepPlanner planner;
    private final KvCache kvCache;
    private final DirectEngine engine;
    private final @Nullable ReplayWorker worker;
    private final ArrayDeque<StepPlan> inFlight = new ArrayDeque<>();
    private KvSnapshot state;
    private final RecordedDrafts device;
    private DraftCounts drafts = DraftCounts.NONE;
    private final ReplayedEvents kvEvents;
    private long numPreemptions;
    private Map<String, Integer> sampled = Map.of();

    private DirectReplay(RecordedRun run) {
        this.run = run;
        planner = new StepPlanner(run.schedulerConfig(), run.kvCacheConfig());
        device = new RecordedDrafts(run);
        worker = ReplayWorker.of(run, planner);
        kvCache = worker == null ? run.kvCacheConfig().create() : worker.memory();
        engine = new DirectEngine(planner, kvCache);
        state = kvCache.snapshot(IntList.of());
        kvEvents = new ReplayedEvents(run, kvCache);
    }

    /** Replays as many steps as were recorded. */
    public static ReplayedRun replay(RecordedRun run) {
        return new DirectReplay(run).replay();
    }

    private ReplayedRun replay() {
        var decisions = new ArrayList<StepDecision>();
        var arrivals = run.additionOrder().iterator();
        int next = arrivals.hasNext() ? arrivals.next() : -1;
        for (int step = 0; step < run.numSteps(); step++) {
            while (next >= 0 && run.requests().get(next).arrivalStep() <= step) {
                planner.add(run.request(next), step);
                next = arrivals.hasNext() ? arrivals.next() : -1;
            }
            decisions.add(decide(step));
        }
        while (!inFlight.isEmpty()) {
            apply(inFlight.remove(), run.numSteps());
        }
        return new ReplayedRun(
                decisions, end(), kvEvents.bySteps(), planner.requests().numUnfinished());
    }

    private StepDecision decide(int step) {
        var plan = engine.plan(step);
        var summary = PlanSummary.of(plan, planner);
        var before = state;
        state = kvCache.snapshot(summary.runningHandles());
        int numHashed = kvCache.blockHashes().length;
        numPreemptions += plan.preempted().size();
        inFlight.add(plan);
        Map<String, Object> planned = worker == null ? Map.of() : worker.onPlanned(step, plan.step());
        var aborted = abort(step);
        sampled = Map.of();
        List<String> finished = List.of();
        if (inFlight.size() == run.schedulerConfig().maxStepsInFlight()) {
            finished = update(inFlight.remove(), step);
            kvEvents.take(step);
        }
        var updated = updated(step, aborted, numHashed);
        var afterPlan = state;
        // Blocks removed by an update count with that update, not with the next plan.
        state = kvCache.snapshot(IntList.of());
        return summary.decision(before, afterPlan, finished, planned, updated);
    }

    private List<String> abort(int step) {
        var aborted = new ArrayList<String>();
        for (int i = 0; i < run.requests().size(); i++) {
            if (run.requests().get(i).abortStep() == step && engine.abort(i)) {
                aborted.add(run.requests().get(i).id());
            }
        }
        return aborted;
    }

    private List<String> update(StepPlan executed, int step) {
        if (worker != null) {
            worker.beforeUpdate(step, executed);
        }
        var result = apply(executed, step);
        sampled = result.sampled().stream().collect(Collectors.toMap(EngineRequest::name, EngineRequest::numNewTokens));
        var finished = new ArrayList<>(names(result.finished()));
        if (worker != null) {
            finished.addAll(names(worker.afterUpdate()));
        }
        return finished;
    }

    private StepResult apply(StepPlan executed, int step) {
        var result = engine.update(executed, step, device.execute(executed));
        drafts = drafts.plus(result.takeDrafts());
        return result;
    }

    private Map<String, Object> updated(int step, List<String> aborted, int numHashedBefore) {
        Map<String, Object> fields = worker == null ? new LinkedHashMap<>() : worker.onStepEnded(step);
        var after = kvCache.snapshot(IntList.of());
        int numRemoved = (int) (after.numRemoved() - state.numRemoved());
        fields.put("aborted", aborted);
        fields.put("sampled", sampled);
        fields.put("stored_after", kvCache.blockHashes().length - numHashedBefore + numRemoved);
        fields.put("removed_after", numRemoved);
        fields.put("free_after", after.numFreeBlocks());
        var computed = new LinkedHashMap<String, Object>();
        for (int i = 0; i < planner.requests().numRunning(); i++) {
            var request = planner.requests().running(i);
            computed.put(request.name(), request.numComputedTokens());
        }
        fields.put("computed", computed);
        fields.put("waiting", names(planner.requests().waiting()));
        fields.put("skipped", names(planner.requests().skipped()));
        return fields;
    }

    private RecordedRun.End end() {
        return RecordedRun.End.of(
                new IntImmutableList(kvCache.freeOrder()),
                numPreemptions,
                kvCache.stats(),
                kvCache.externalStats(),
                drafts);
    }

    private static List<String> names(List<? extends EngineRequest> requests) {
        return requests.stream().map(r -> r.request().name()).toList();
    }
}
