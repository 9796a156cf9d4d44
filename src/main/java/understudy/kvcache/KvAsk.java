package understudy.kvcache;

import it.unimi.dsi.fastutil.ints.IntList;
import java.util.List;

/**
 * A question of a scheduler to its KV memory while it plans a step. Each has one {@link KvAnswer}, and there is one for
 * all running requests and one for each admission, never one per block.
 */
public sealed interface KvAsk {

    /**
     * Allocates slots for running requests, in order, up to the first refusal (vLLM {@code allocate_slots}).
     *
     * @param isSure whether all are granted for certain, since {@link KvCache#numFreeBlocks} has said so
     */
    record Reserve(Reservation reservation, boolean isSure) implements KvAsk {}

    /**
     * Finds the cached prefix of a waiting request, and allocates its slots, all or nothing (vLLM {@code
     * get_computed_blocks} and {@code allocate_slots}).
     */
    record Admit(AdmissionRequest request) implements KvAsk {}

    /**
     * Counts the leading tokens of each request that are cached (vLLM {@code get_computed_blocks}); changes nothing.
     */
    record Match(List<PrefixLookup> lookups) implements KvAsk {}

    /**
     * Drops all blocks of a preempted request, which keeps its handle (vLLM {@code free}).
     *
     * @param lastStep number of the step in which it was scheduled last
     */
    record Release(int handle, long lastStep) implements KvAsk {}

    /**
     * Ends the plan of a step: transfers that it brings with it begin (vLLM {@code build_connector_meta}). Put to a
     * memory with a connector only; it is answered when nothing stands in the way of the step's execution.
     *
     * @param step number of the step
     * @param computes whether it has tokens to compute
     * @param scheduled handles of the requests that compute in it, in order; none unless the connector reads plans
     * @param numComputedTokens of each of these after the step
     * @param numTokens of each of these that are known
     */
    record EndPlan(long step, boolean computes, IntList scheduled, IntList numComputedTokens, IntList numTokens)
            implements KvAsk {}

    /**
     * Question that the engines of one family put to the memories of that family, and no others. It is a value as all others
     * are: a record of immutable parts, since it crosses from one actor to another. {@link KvCache#answer(OfFamily)} answers
     * it; the actors and messages that carry it do not look into it.
     */
    non-sealed interface OfFamily extends KvAsk {}

    /** Returns whether the scheduler must know the answer before it can go on. */
    default boolean awaitsAnswer() {
        return !(this instanceof Release) && !(this instanceof Reserve reserve && reserve.isSure);
    }
}
