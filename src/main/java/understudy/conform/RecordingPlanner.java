package understudy.conform;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import understudy.engine.Engine;
import understudy.engine.EngineLoad;
import understudy.engine.EngineRequest;
import understudy.engine.EngineSpec;
import understudy.engine.EngineTraits;
import understudy.engine.Request;
import understudy.engine.RequestLimits;
import understudy.engine.StepPlan;
import understudy.engine.StepResult;
import understudy.engine.speculation.DraftCounts;
import understudy.engine.speculation.DraftOutput;
import understudy.engine.vllm.SchedulerConfig;
import understudy.engine.vllm.StepPlanner;
import understudy.engine.vllm.VllmPlan;
import understudy.engine.vllm.VllmSpec;
import understudy.kvcache.KvAnswer;
import understudy.kvcache.KvAsk;
import understudy.kvcache.KvCache;
import understudy.kvcache.KvCacheSpec;
import understudy.kvcache.KvSnapshot;

/**
 * Engine that tells of each plan, and of what the memory holds around it, and has the recording's worker do its part
 * in each step. Before and after it plans it asks the memory one question more, about nothing: when that is answered,
 * the memory has heeded all that was said before.
 *
 * <p>The recording's driver plans in each step, and applies a result in each, or in each but the first with two steps in
 * flight; both may be empty. Steps that the engine leaves out are made up for before its next plan.
 */
final class RecordingPlanner implements Engine {
    static final long NANOS_PER_STEP = 1_000_000;

    private static final KvAsk NOTHING = new KvAsk.Match(List.of());

    private enum Phase {
        BEFORE,
        WITHIN,
        AFTER,
        OVER
    }

    /** Listener to what comes of a recorded run. */
    interface Listener {

        void onPlanned(PlannedStep step);

        /** A request has ended with the result applied in a step, since its KV could not be loaded. */
        void onFailed(int step, long requestId);
    }

    private final SchedulerConfig config;
    private final StepPlanner planner;
    private final @Nullable ReplayWorker worker;
    private final RecordedDrafts device;
    private final KvCache memory;
    private final Listener listener;
    private final ReplayedEvents kvEvents;
    private KvSnapshot before;
    private Phase phase = Phase.OVER;
    private long nowNanos;

    /** Whether there is a plan of this step already, so that this one is to be empty. */
    private boolean isRepeated;

    private int numPlanned;
    private int numUpdated;
    private boolean isUpdating;
    private DraftCounts drafts = DraftCounts.NONE;

    RecordingPlanner(RecordedRun run, Listener listener) {
        this.listener = listener;
        config = run.schedulerConfig();
        planner = new StepPlanner(config, run.kvCacheConfig());
        worker = ReplayWorker.of(run, planner);
        device = new RecordedDrafts(run);
        memory = worker == null ? run.kvCacheConfig().create() : worker.memory();
        before = memory.snapshot(IntList.of());
        kvEvents = new ReplayedEvents(run, memory);
    }

    /**
     * Settings of the one engine that is this planner.
     *
     * @param settings those of the recorded one
     */
    record Spec(RecordingPlanner planner, VllmSpec settings) implements EngineSpec {

        @Override
        public Engine createEngine() {
            return planner;
        }

        @Override
        public KvCache createMemory() {
            return planner.memory;
        }

        @Override
        public EngineTraits traits() {
            return settings.traits();
        }

        @Override
        public RequestLimits limits() {
            return settings.limits();
        }

        @Override
        public KvCacheSpec kvCache() {
            return settings.kvCache();
        }
    }

    /** Returns the memory that the engine is to plan with. */
    KvCache memory() {
        return memory;
    }

    /** Returns the counts of drafts so far. */
    DraftCounts drafts() {
        return drafts;
    }

    /** Returns the KV events of each step so far, if they were recorded. */
    List<List<Object>> kvEvents() {
        return kvEvents.bySteps();
    }

    @Override
    public EngineLoad load() {
        return planner.load();
    }

    @Override
    public EngineRequest add(Request request, long atNanos) {
        return planner.add(request, atNanos);
    }

    @Override
    public @Nullable EngineRequest find(long requestId) {
        return planner.find(requestId);
    }

    @Override
    public @Nullable EngineRequest abort(long requestId) {
        return planner.abort(requestId);
    }

    @Override
    public void setAdmitsNone(boolean admitsNone) {
        planner.setAdmitsNone(admitsNone);
    }

    @Override
    public int numToServe() {
        return planner.numToServe();
    }

    @Override
    public boolean hasWork() {
        return planner.hasWork();
    }

    @Override
    public boolean parks(StepPlan empty, boolean isWoken) {
        return planner.parks(empty, isWoken);
    }

    @Override
    public void onKvArrived(long requestId) {
        planner.onKvArrived(requestId);
    }

    @Override
    public void onLoadFailed(long requestId, IntList invalid, IntList table) {
        planner.onLoadFailed(requestId, invalid, table);
    }

    @Override
    public void begin(long atNanos) {
        nowNanos = atNanos;
        isRepeated = atNanos / NANOS_PER_STEP < numPlanned;
        phase = isRepeated ? Phase.OVER : Phase.BEFORE;
    }

    @Override
    public @Nullable KvAsk next() {
        if (phase == Phase.WITHIN) {
            var ask = planner.next();
            if (ask != null) {
                return ask;
            }
            phase = Phase.AFTER;
        }
        return phase == Phase.OVER ? null : NOTHING;
    }

    @Override
    public void answer(KvAnswer answer) {
        if (phase == Phase.WITHIN) {
            planner.answer(answer);
        } else if (phase == Phase.BEFORE) {
            catchUp((int) (nowNanos / NANOS_PER_STEP));
            planner.begin(nowNanos);
            phase = Phase.WITHIN;
        } else {
            phase = Phase.OVER;
        }
    }

    @Override
    public StepPlan plan() {
        if (isRepeated) {
            return new StepPlan();
        }
        var plan = planner.plan();
        onPlanned(PlanSummary.of(plan, planner), plan.step());
        return plan;
    }

    private void onPlanned(PlanSummary plan, long planStep) {
        var after = memory.snapshot(plan.runningHandles());
        Map<String, Object> fields = worker == null ? Map.of() : worker.onPlanned(numPlanned, planStep);
        listener.onPlanned(new PlannedStep(numPlanned, plan, before, after, fields));
        before = after;
        numPlanned++;
    }

    /** With one step in flight a result belongs to the step that has just ended, with more to the one planned last. */
    @Override
    public StepResult update(StepPlan executed, long atNanos, DraftOutput output) {
        catchUp((int) (atNanos / NANOS_PER_STEP) - (config.maxStepsInFlight() == 1 ? 1 : 0));
        return beginUpdate(executed, atNanos);
    }

    /** Makes up for all that the recording's driver does before a step. */
    void catchUp(int step) {
        endUpdate();
        while (numUpdated < step) {
            beginUpdate(new VllmPlan(), numUpdated * NANOS_PER_STEP);
            endUpdate();
        }
    }

    private StepResult beginUpdate(StepPlan executed, long atNanos) {
        if (numPlanned == numUpdated) {
            onPlanned(PlanSummary.EMPTY, 0);
        }
        if (worker != null && numUpdated > (config.maxStepsInFlight() == 1 ? -1 : 0)) {
            worker.beforeUpdate(numUpdated, executed);
        }
        numUpdated++;
        isUpdating = true;
        var result = planner.update(executed, atNanos, device.execute(executed));
        drafts = drafts.plus(result.takeDrafts());
        return result;
    }

    /** Ends an update: blocks that it has removed count with it, not with the next plan. */
    private void endUpdate() {
        if (isUpdating) {
            if (worker != null) {
                int step = numUpdated - 1;
                worker.afterUpdate().forEach(request -> listener.onFailed(step, request.id()));
                worker.onStepEnded(step);
            }
            before = memory.snapshot(IntList.of());
            if (numUpdated >= config.maxStepsInFlight()) {
                kvEvents.take(numUpdated - 1);
            }
        }
        isUpdating = false;
    }

    @Override
    public List<EngineRequest> preemptAll() {
        return planner.preemptAll();
    }
}
