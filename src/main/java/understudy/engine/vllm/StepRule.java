package understudy.engine.vllm;

import org.jspecify.annotations.Nullable;
import understudy.engine.speculation.DraftOutput;
import understudy.engine.vllm.queue.WaitingQueues;
import understudy.kvcache.Admission;
import understudy.kvcache.KvAsk;

/**
 * Rule of vLLM's scheduler that only some deployments have: KV that comes later, adapters, drafts, stages, groups of layers,
 * a cadence of prefills. Each is one class that keeps its own numbers by request. {@link SchedulerRules} has those that are on;
 * without any, a step is planned and applied by {@link StepPlanner}, {@link RequestBook} and {@link StepUpdate} alone.
 *
 * <p>The methods stand in the order in which a step calls them.
 */
interface StepRule {

    /** Returns whether the rule looks at each scheduled request; then none is scheduled as a member of the cohort. */
    default boolean seesEach() {
        return true;
    }

    /** Begins the plan of a step. */
    default void begin(RunningList running, WaitingQueues<VllmRequest> waiting) {}

    /** Returns how many of so many tokens a running request may compute in a step; 0 passes over it. */
    default int limit(VllmRequest running, int numTokens, long step) {
        return numTokens;
    }

    /**
     * Counts as the data-parallel group does.
     *
     * @param number the step of the group that has ended, from 0
     * @param numInFlight steps planned behind it
     */
    default void onGroupStep(long number, int numInFlight) {}

    /** Records that a request has lost its blocks. */
    default void onPreempted(VllmRequest victim) {}

    /**
     * Returns the index of the running request to look at next, behind the one for which another was preempted.
     *
     * @param index where it stands without the rule
     * @param hasListShifted whether the victim stood in front of it, without tokens in this plan
     */
    default int next(int index, boolean hasListShifted) {
        return index;
    }

    /** Records that a request has preempted itself, behind so many tokens in the plan. */
    default void onSelfPreempted(int numScheduledTokens) {}

    /** Begins admissions behind the running requests of a plan. */
    default void beginAdmissions(VllmPlan plan) {}

    /** Returns how many requests may run, given how many may without the rule. */
    default int maxRunning(int max) {
        return max;
    }

    /** Returns whether no request is admitted any more, whatever happens. */
    default boolean hasStopped() {
        return false;
    }

    /** Returns whether a waiting request may be looked at in this step, or is passed over. */
    default boolean mayAdmit(VllmRequest head, WaitingQueues<VllmRequest> waiting) {
        return true;
    }

    /**
     * Completes the question whether a waiting request may run.
     *
     * @param numActive requests that run, and steps in flight
     */
    default void ask(AdmissionDraft question, VllmRequest head, int numActive) {}

    /** Records that a request is admitted. */
    default void onAdmitted(VllmRequest head, Admission.Admitted admitted) {}

    /** Records that a request waits for its KV from now on. */
    default void onLoading(VllmRequest head) {}

    /**
     * Returns whether a request that was refused is passed over, so that others may go first.
     *
     * @param numActive requests that run, and steps in flight
     */
    default boolean passesRefused(WaitingQueues<VllmRequest> waiting, int numActive) {
        return false;
    }

    /** Returns the last question about a plan, or null for none; to be asked once for each plan. */
    default @Nullable KvAsk endAsk(VllmPlan plan) {
        return null;
    }

    /** Fixes the plan's entry for a listed request, before its tokens count as computed. */
    default void onScheduled(VllmPlan plan, int index) {}

    /** Records that the tokens of a listed request count as computed. */
    default void onSettled(VllmPlan plan, int index, boolean isPartial) {}

    /** Ends a plan. */
    default void endPlan(VllmPlan plan, WaitingQueues<VllmRequest> waiting) {}

    /** Returns whether the device may be idle although a running request could compute: it does so in a later plan. */
    default boolean mayIdle(RunningList running, long step) {
        return false;
    }

    /** Takes over the result of a step for a listed request besides its tokens. */
    default void onResult(VllmRequest request, VllmPlan executed, int index, DraftOutput output) {}

    /** Records that a request has ended. */
    default void onEnded(VllmRequest request) {}
}
