package understudy.conform;

import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import understudy.engine.EngineRequest;
import understudy.engine.Planner;
import understudy.engine.PlannerConfig;
import understudy.engine.RequestBook;
import understudy.engine.StepPlan;
import understudy.kvcache.KvAnswer;
import understudy.kvcache.KvAsk;
import understudy.kvcache.KvCache;
import understudy.kvcache.KvCacheConfig;
import understudy.kvcache.KvSnapshot;

/**
 * Planner that tells of each plan, and of what the memory holds after it. Before a plan is complete it asks the memory
 * one question more, about nothing: when that is answered, the memory has heeded all that was said before.
 */
final class RecordingPlanner implements Planner {
    private final Planner planner;
    private final KvCache memory;
    private final BiConsumer<PlanSummary, KvSnapshot> listener;
    private boolean isComplete;

    private RecordingPlanner(Planner planner, KvCache memory, BiConsumer<PlanSummary, KvSnapshot> listener) {
        this.planner = planner;
        this.memory = memory;
        this.listener = listener;
    }

    /** Settings of an engine with such a planner; {@code memory} is the one that it plans with. */
    record Config(PlannerConfig config, KvCache memory, BiConsumer<PlanSummary, KvSnapshot> listener)
            implements PlannerConfig {

        @Override
        public Planner createPlanner(KvCacheConfig kvCache) {
            return new RecordingPlanner(config.createPlanner(kvCache), memory, listener);
        }

        @Override
        public int maxNumSeqs() {
            return config.maxNumSeqs();
        }

        @Override
        public int maxNumBatchedTokens(int maxModelLen) {
            return config.maxNumBatchedTokens(maxModelLen);
        }

        @Override
        public int maxStepsInFlight() {
            return config.maxStepsInFlight();
        }
    }

    @Override
    public RequestBook requests() {
        return planner.requests();
    }

    @Override
    public void begin(long atNanos) {
        planner.begin(atNanos);
        isComplete = false;
    }

    @Override
    public @Nullable KvAsk next() {
        if (isComplete) {
            return null;
        }
        var ask = planner.next();
        isComplete = ask == null;
        return isComplete ? new KvAsk.Match(List.of()) : ask;
    }

    @Override
    public void answer(KvAnswer answer) {
        if (!isComplete) {
            planner.answer(answer);
        }
    }

    @Override
    public StepPlan plan() {
        var plan = planner.plan();
        var summary = PlanSummary.of(plan, planner);
        listener.accept(summary, memory.snapshot(summary.runningHandles()));
        return plan;
    }

    @Override
    public List<EngineRequest> preemptAll() {
        return planner.preemptAll();
    }
}
