package understudy.engine;

import understudy.kvcache.KvCacheManager;

/**
 * Scheduler and KV cache joined by plain calls, without actors: for conformance checks, benchmarks and tests. The actors
 * have the same conversation by messages.
 */
public final class DirectEngine {
    private final StepPlanner planner;
    private final KvCacheManager kvCache;

    public DirectEngine(StepPlanner planner, KvCacheManager kvCache) {
        this.planner = planner;
        this.kvCache = kvCache;
    }

    /** Plans one step at virtual time {@code atNanos}; the plan may be empty. */
    public StepPlan plan(long atNanos) {
        planner.begin(atNanos);
        while (true) {
            switch (planner.next()) {
                case RESERVE -> planner.onReserved(kvCache.reserve(planner.reservation()));
                case RELEASE -> kvCache.release(planner.takeHandleToRelease());
                case ADMIT -> planner.onAdmission(kvCache.admit(planner.admissionRequest()));
                case DONE -> {
                    return planner.plan();
                }
            }
        }
    }

    /** Applies the result of a planned step that ran until {@code atNanos}. */
    public StepResult update(StepPlan plan, long atNanos) {
        var result = planner.update(plan, atNanos);
        if (!result.settlement().isEmpty()) {
            kvCache.settle(result.settlement().build());
        }
        return result;
    }
}
