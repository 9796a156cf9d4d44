package understudy.engine.vllm;

import understudy.engine.vllm.queue.WaitingQueues;

/**
 * Cadence of prefills (vLLM {@code prefill_schedule_interval}): while a request decodes, prompts are computed in one of
 * so many steps only, the same for all ranks of a data-parallel group, so that not every step waits for some rank's
 * prompt. Between those steps nothing is put off if the last one left requests waiting.
 *
 * <p>vLLM heeds it in data-parallel groups only, and counts the steps of a group from when it last had nothing to do; so
 * does this. A replica on its own counts its own steps, as vLLM's pull request 54627 proposes. A rank that begins to work
 * beside others counts from 0 until the first of its steps has ended, in which case at most one step is taken for another.
 */
final class PrefillThrottle implements StepRule {
    private final int interval;

    /** Number of the step that is planned next, from 0. */
    private long step;

    private boolean isCapacityBound;
    private boolean defersPrefills;

    /** Creates a cadence; {@code interval} 1 puts nothing off. */
    PrefillThrottle(int interval) {
        this.interval = interval;
    }

    /**
     * Begins to plan a step.
     *
     * @param isAnyRunning whether requests run
     * @param isAnyDecoding whether one of them computes no prompt
     */
    void begin(boolean isAnyRunning, boolean isAnyDecoding) {
        step = isAnyRunning ? step : 0;
        defersPrefills = isAnyDecoding && !isCapacityBound && step % interval != 0;
    }

    /** Returns whether the step that is being planned computes no prompt beyond its last token. */
    boolean defersPrefills() {
        return defersPrefills;
    }

    @Override
    public boolean seesEach() {
        return false;
    }

    @Override
    public void begin(RunningList running, WaitingQueues<VllmRequest> waiting) {
        begin(running.size() > 0, running.isAnyDecoding());
    }

    @Override
    public int limit(VllmRequest running, int numTokens, long planned) {
        return defersPrefills && running.isPrefillChunk ? 0 : numTokens;
    }

    @Override
    public void ask(AdmissionDraft question, VllmRequest head, int numActive) {
        question.defersPrefills = defersPrefills;
    }

    @Override
    public void endPlan(VllmPlan plan, WaitingQueues<VllmRequest> waiting) {
        endAdmissions(plan.preempted().isEmpty(), waiting.isAnyWaiting());
        if (!plan.isEmpty()) {
            onPlanned();
        }
    }

    /**
     * Records whether a step that may compute prompts has left requests waiting: then capacity is the bound.
     *
     * @param hasAdmitted whether admissions were tried: not after a preemption
     * @param areLeft whether requests are left, those that were passed over aside
     */
    void endAdmissions(boolean hasAdmitted, boolean areLeft) {
        if (hasAdmitted && !defersPrefills) {
            isCapacityBound = areLeft;
        }
    }

    /** Counts a planned step that goes to the device. */
    void onPlanned() {
        step++;
    }

    @Override
    public void onGroupStep(long number, int numInFlight) {
        step = number + 1 + numInFlight;
    }
}
