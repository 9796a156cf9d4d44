package understudy.conform;

import understudy.engine.EngineRequest;
import understudy.engine.StepPlan;
import understudy.engine.StepResult;
import understudy.engine.speculation.DraftOutput;
import understudy.engine.vllm.StepPlanner;
import understudy.kvcache.KvCache;

/**
 * Scheduler and KV cache joined by plain calls, without actors: for conformance checks, benchmarks and tests. The
 * actors have the same conversation by messages.
 */
public record DirectEngine(StepPlanner planner, KvCache kvCache) {
    /** Plans one step at virtual time {@code atNanos}; the plan may be empty. */
    public StepPlan plan(long atNanos) {
        return planner.plan(kvCache, atNanos);
    }

    /** Applies the result of a planned step that ran until {@code atNanos}. */
    public StepResult update(StepPlan plan, long atNanos) {
        return update(plan, atNanos, DraftOutput.NONE);
    }

    /** Applies the result of a planned step that ran until {@code atNanos}, and the result of its drafts. */
    public StepResult update(StepPlan plan, long atNanos, DraftOutput output) {
        var result = planner.update(plan, atNanos, output);
        var settlement = result.toSettle();
        if (settlement != null) {
            kvCache.settle(settlement);
        }
        return result;
    }

    /** Gives up a request, and returns whether it was still here. */
    public boolean abort(long requestId) {
        var request = planner.abort(requestId);
        if (request == null) {
            return false;
        }
        kvCache.abort(requestId, request.request().kvTransfer(), request.handle(), request.lastStep());
        return true;
    }

    /**
     * Forgets all cached content.
     *
     * @param resetsRunning whether to preempt everything that runs for it; else it is refused, with false, while any
     *     block is in use
     */
    public boolean resetPrefixCache(boolean resetsRunning) {
        if (resetsRunning) {
            planner.preemptAll().forEach(this::release);
        }
        return kvCache.resetPrefixCache();
    }

    private void release(EngineRequest request) {
        kvCache.release(request.handle(), request.lastStep());
    }
}
