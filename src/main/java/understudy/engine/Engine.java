package understudy.engine;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.engine.lora.Adapters;
import understudy.engine.speculation.DraftOutput;
import understudy.figure.OwnFigures;
import understudy.kvcache.KvAnswer;
import understudy.kvcache.KvAsk;
import understudy.kvcache.KvCache;

/**
 * Engine of one family as a state machine: the decisions of a replica in one step. It never calls the KV memory, it says
 * what to ask and is told the answer, so that actors, tests and conformance checks share one loop:
 *
 * <pre>{@code
 * engine.begin(now);
 * for (var ask = engine.next(); ask != null; ask = engine.next()) {
 *     engine.answer(memory.answer(ask));
 * }
 * var plan = engine.plan();
 * }</pre>
 *
 * <p>Everything else of a family is its own. {@link EngineCore} adds what all have in common: steps in flight, requests
 * that arrive while a plan is being made, pauses.
 */
public interface Engine {

    /** Returns the requests that have not ended, as a replica reports them; always the same view. */
    EngineLoad load();

    /** Queues a request that has reached the engine at {@code atNanos}. */
    EngineRequest add(Request request, long atNanos);

    /** Returns a request that has not ended, or null. */
    @Nullable EngineRequest find(long requestId);

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

    /**
     * Applies the result of a step that ran until {@code atNanos} (vLLM {@code update_from_output}), in the order of
     * plans.
     *
     * @param output result of the drafts of the step, as the device reports it
     */
    StepResult update(StepPlan executed, long atNanos, DraftOutput output);

    /** Applies the result of a step of a device that does not speculate. */
    default StepResult update(StepPlan executed, long atNanos) {
        return update(executed, atNanos, DraftOutput.NONE);
    }

    /**
     * Returns tokens and ends that the last plan has brought without a step, since they come from another engine, or null if
     * there are none; valid until the next plan. To be asked for once per plan.
     */
    default @Nullable StepResult takeEarly() {
        return null;
    }

    /**
     * Gives up a request (vLLM {@code finish_requests}), wherever it is; its blocks are still to be freed by its
     * handle.
     *
     * @return the request, or null if it has ended already or was never here
     */
    @Nullable EngineRequest abort(long requestId);

    /**
     * Preempts everything that runs (vLLM {@code reset_prefix_cache}) and drops what is in flight, so that the prefix
     * cache can be reset; requests wait in their old order. Not to be called while a plan is being made. An engine that
     * never preempts leaves everything as it is.
     *
     * @return the requests whose blocks are to be released
     */
    default List<EngineRequest> preemptAll() {
        return List.of();
    }

    /**
     * Returns the requests that the engine has ended by itself since the last call, before their answers were complete;
     * they hold no blocks any more.
     */
    default List<GivenUp> takeGivenUp() {
        return List.of();
    }

    /**
     * Request that its engine has ended by itself.
     *
     * @param isOverload whether there was too much to do for it; else there was no room
     * @param reason error message for its sender
     */
    record GivenUp(EngineRequest request, boolean isOverload, String reason) {}

    /**
     * Returns the requests that the engine never computes any more, by a defect of the one that it stands for: they have not
     * ended.
     */
    default List<EngineRequest> lost() {
        return List.of();
    }

    /** Returns why it does not, as an error message for their senders. */
    default String whyLost() {
        return "";
    }

    /** Returns what the engine has counted that only its family has. */
    default OwnFigures ownFigures() {
        return OwnFigures.NONE;
    }

    /** Sets whether requests that wait go on waiting (vLLM {@code PAUSED_NEW}). */
    void setAdmitsNone(boolean admitsNone);

    /** Returns the number of requests that plans are made for (vLLM {@code get_num_unfinished_requests}). */
    int numToServe();

    /** Returns whether there is something to plan (vLLM {@code has_requests}), perhaps only to tell the memory. */
    default boolean hasWork() {
        return numToServe() > 0;
    }

    /**
     * Checks the family's law of work conservation after an empty plan while no step is in flight, and returns whether
     * the engine waits from now on until something changes; else it plans again as long as it has work.
     *
     * @param isWoken whether anything has changed since the plan was begun
     * @throws IllegalStateException if there are requests, but the device has nothing to do and nothing has changed that
     *     could give it something
     */
    default boolean parks(StepPlan empty, boolean isWoken) {
        if (empty.preempted().isEmpty() && numToServe() > 0) {
            throw load().idleWithWork();
        }
        return false;
    }

    /** Forgets how many blocks are free, because the memory gets another size. */
    default void onMemoryResized() {}

    /** Returns what is to be said to the other ranks before a turn; to be asked for where {@link RankRules} have an agreement. */
    default RankRules.Word wordToRanks() {
        throw new UnsupportedOperationException("the ranks of this engine do not talk");
    }

    /** Sets what the next turn keeps to, as the ranks have agreed. */
    default void onAgreed(RankRules.Turn turn) {}

    /** Records which step of the data-parallel group, from 0, the one was whose result comes next. */
    default void onGroupStep(long number) {}

    /** Ends the wait of a request for its KV, with the next plan; does nothing if it waits no more. */
    default void onKvArrived(long requestId) {}

    /**
     * Takes a request back to the tokens before its first invalid block, since that could not be loaded.
     *
     * @param invalid blocks that could not be loaded
     * @param table all blocks of the request
     */
    default void onLoadFailed(long requestId, IntList invalid, IntList table) {}

    /** Returns the places for LoRA adapters. */
    default Adapters adapters() {
        return Adapters.NONE;
    }

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
