package understudy.engine;

import org.jspecify.annotations.Nullable;
import understudy.engine.queue.SchedulingPolicy;
import understudy.engine.queue.WaitingQueues;
import understudy.kvcache.KvCacheConfig;

/** The unfinished requests of an engine: those that wait, those that run, and what a step's result does to them. */
public final class RequestBook {
    final WaitingQueues<EngineRequest> waiting;
    final RunningList running = new RunningList();
    final DecodeCohort cohort;
    private final RequestTable all = new RequestTable();
    private final StepUpdate stepUpdate;

    RequestBook(KvCacheConfig kvCache, boolean isAsync, SchedulingPolicy policy, int minRunningOfCohort) {
        waiting = new WaitingQueues<>(policy);
        cohort = new DecodeCohort(running, kvCache, isAsync, minRunningOfCohort);
        stepUpdate = new StepUpdate(kvCache, isAsync, all, waiting, running, cohort);
    }

    /** Queues a request that has reached the engine at {@code atNanos}. */
    EngineRequest add(Request request, long atNanos) {
        var added = all.add(request, atNanos);
        waiting.add(added);
        return added;
    }

    /** Applies the result of a step that ran until {@code atNanos}. */
    StepResult update(StepPlan executed, long atNanos) {
        return stepUpdate.apply(executed, atNanos);
    }

    /** Ends a request; returns null if it has ended already or was never here. */
    @Nullable EngineRequest abort(long requestId) {
        var request = all.find(requestId);
        if (request != null) {
            stepUpdate.abort(request);
        }
        return request;
    }

    /** Returns a request that has not ended, or null. */
    public @Nullable EngineRequest find(long requestId) {
        return all.find(requestId);
    }

    /** Returns the number of requests that have not ended. */
    public int numUnfinished() {
        return all.size();
    }

    /** Returns the number of requests that were admitted and have not ended. */
    public int numRunning() {
        return running.size();
    }

    /** Returns the prompt tokens that are not computed yet, of all requests; takes time in proportion to their number. */
    public long pendingPrefillTokens() {
        return all.pendingPrefillTokens();
    }

    /** Returns a running request, in the order in which they are served. */
    public EngineRequest running(int index) {
        return running.get(index);
    }

    /** Returns the number of requests that wait to be admitted. */
    public int numWaiting() {
        return waiting.size();
    }
}
