package understudy.engine;

import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.Admission;
import understudy.kvcache.AdmissionRequest;
import understudy.kvcache.PrefixLookup;
import understudy.kvcache.Reservation;

/**
 * One kind of engine as a state machine: what a replica decides in one step. It never calls the KV cache, it says what to
 * ask and is told the answer.
 *
 * <p>To plan a step, call {@link #begin}, then {@link #next} until it says {@link Action#DONE}, carrying out each action
 * on the way; to apply a step's result, call {@link #update}. A planner that never asks a question need not know how to
 * put it.
 */
public interface Planner {

    /** What the planner needs before it can go on. */
    enum Action {
        /** Ask the KV cache for {@link #reservation()} and answer with {@link #onReserved}. */
        RESERVE,
        /** Have the KV cache release {@link #takeRequestToRelease()}; there is no answer. */
        RELEASE,
        /** Ask the KV cache how much of {@link #lookups()} is cached and answer with {@link #onMatched}. */
        MATCH,
        /** Ask the KV cache for {@link #admissionRequest()} and answer with {@link #onAdmission}. */
        ADMIT,
        /** The step is planned: {@link #plan()}. */
        DONE
    }

    /** Queues a request that has reached the engine at {@code atNanos}. */
    EngineRequest add(Request request, long atNanos);

    /** Starts to plan a step at virtual time {@code atNanos}. */
    void begin(long atNanos);

    /** Goes on to the next point at which the KV cache has to be asked, or to the end of the plan. */
    Action next();

    /** Returns what the running requests need, with {@link Action#RESERVE}. */
    Reservation reservation();

    /** Takes the answer to {@link #reservation()}: how many requests were granted before the first refusal. */
    void onReserved(int numGranted);

    /** Returns the question whether a waiting request may run, with {@link Action#ADMIT}. */
    AdmissionRequest admissionRequest();

    /** Takes the answer to {@link #admissionRequest()}. */
    void onAdmission(Admission admission);

    /** Returns a preempted request, with {@link Action#RELEASE}, and considers it done. */
    default EngineRequest takeRequestToRelease() {
        throw new IllegalStateException("nothing was preempted");
    }

    /** Returns the waiting requests whose cached prefixes decide their order, with {@link Action#MATCH}. */
    default List<PrefixLookup> lookups() {
        throw new IllegalStateException("no prefix was asked for");
    }

    /** Takes the answer to {@link #lookups()}: cached tokens of each request, in the same order. */
    default void onMatched(int[] numCachedTokens) {
        throw new IllegalStateException("no prefix was asked for");
    }

    /** Returns the plan, with {@link Action#DONE}; it stays fixed until {@link #update} has applied its result. */
    StepPlan plan();

    /** Applies the result of a step that ran until {@code atNanos}; plans must be applied in their order. */
    StepResult update(StepPlan executed, long atNanos);

    /**
     * Gives up a request, wherever it is; its blocks are still to be freed by its handle.
     *
     * @return the request, or null if it has ended already or was never here
     */
    @Nullable EngineRequest abort(long requestId);

    /**
     * Preempts everything that runs and drops what is in flight, so that the prefix cache can be reset; requests wait in
     * their old order. Not to be called while a plan is being made. A planner that never preempts leaves everything as it is.
     *
     * @return the requests whose blocks are to be released
     */
    default List<EngineRequest> preemptAll() {
        return List.of();
    }

    /** Returns a request that has not ended, or null. */
    @Nullable EngineRequest find(long requestId);

    /** Returns the requests that have not ended. */
    int numUnfinished();

    /** Returns the requests that were admitted and have not ended. */
    int numRunning();

    /** Returns a running request, in order of admission. */
    EngineRequest running(int index);

    /** Returns the requests that wait to be admitted. */
    int numWaiting();
}
