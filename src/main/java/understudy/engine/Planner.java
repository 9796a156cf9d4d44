package understudy.engine;

import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.engine.speculation.DraftOutput;
import understudy.kvcache.KvAnswer;
import understudy.kvcache.KvAsk;
import understudy.kvcache.KvCache;

/**
 * Engine of one kind as a state machine: the decisions of a replica in one step. It never calls the KV memory, it says
 * what to ask and is told the answer, so that actors, tests and conformance checks share one loop:
 *
 * <pre>{@code
 * planner.begin(now);
 * for (var ask = planner.next(); ask != null; ask = planner.next()) {
 *     planner.answer(memory.answer(ask));
 * }
 * var plan = planner.plan();
 * }</pre>
 */
public interface Planner {

    /** Returns the requests that have not ended. */
    RequestBook requests();

    /** Starts to plan a step at virtual time {@code atNanos}. */
    void begin(long atNanos);

    /** Returns the next question to the KV memory, or null if the step is planned. */
    @Nullable KvAsk next();

    /** Accepts the answer to the last question; that to one which does not await it may be left out. */
    void answer(KvAnswer answer);

    /**
     * Returns the plan once {@link #next} has no more questions (vLLM {@code schedule}); it stays fixed until {@link
     * #update} has applied its result.
     */
    StepPlan plan();

    /** Queues a request that has reached the engine at {@code atNanos}. */
    default EngineRequest add(Request request, long atNanos) {
        return requests().add(request, atNanos);
    }

    /**
     * Applies the result of a step that ran until {@code atNanos} (vLLM {@code update_from_output}), in the order of
     * plans.
     *
     * @param output what the device says of drafts
     */
    default StepResult update(StepPlan executed, long atNanos, DraftOutput output) {
        return requests().update(executed, atNanos, output);
    }

    /** Applies the result of a step of a device that does not speculate. */
    default StepResult update(StepPlan executed, long atNanos) {
        return update(executed, atNanos, DraftOutput.NONE);
    }

    /**
     * Gives up a request (vLLM {@code finish_requests}), wherever it is; its blocks are still to be freed by its
     * handle.
     *
     * @return the request, or null if it has ended already or was never here
     */
    default @Nullable EngineRequest abort(long requestId) {
        return requests().abort(requestId);
    }

    /**
     * Preempts everything that runs (vLLM {@code reset_prefix_cache}) and drops what is in flight, so that the prefix
     * cache can be reset; requests wait in their old order. Not to be called while a plan is being made. A planner that
     * never preempts leaves everything as it is.
     *
     * @return the requests whose blocks are to be released
     */
    default List<EngineRequest> preemptAll() {
        return List.of();
    }

    /** Forgets how many blocks are free, because the memory gets another size. */
    default void onMemoryResized() {}

    /** Takes note which step of the data-parallel group, from 0, the one was whose result comes next. */
    default void onGroupStep(long number) {}

    /** Plans one step at virtual time {@code atNanos} with a memory that answers at once; the plan may be empty. */
    default StepPlan plan(KvCache memory, long atNanos) {
        begin(atNanos);
        for (var ask = next(); ask != null; ask = next()) {
            var answer = memory.answer(ask);
            if (ask.awaitsAnswer()) {
                answer(answer);
            }
        }
        return plan();
    }
}
