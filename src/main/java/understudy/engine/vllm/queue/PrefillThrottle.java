package understudy.engine.vllm.queue;

/**
 * Cadence of prefills (vLLM {@code prefill_schedule_interval}): while a request decodes, prompts are computed in one of
 * so many steps only, the same for all ranks of a data-parallel group, so that not every step waits for some rank's
 * prompt. Between those steps nothing is put off if the last one left requests waiting.
 *
 * <p>vLLM heeds it in data-parallel groups only, and counts the steps of a group from when it last had nothing to do; so
 * does this. A replica on its own counts its own steps, as vLLM's pull request 54627 proposes. A rank that begins to work
 * beside others counts from 0 until the first of its steps has ended, in which case at most one step is taken for another.
 */
public final class PrefillThrottle {
    private final int interval;

    /** Number of the step that is planned next, from 0. */
    private long step;

    private boolean isCapacityBound;
    private boolean defersPrefills;

    /** Creates a cadence; {@code interval} 1 puts nothing off. */
    public PrefillThrottle(int interval) {
        this.interval = interval;
    }

    /** Returns whether prefills may ever be put off. */
    public boolean isOn() {
        return interval > 1;
    }

    /**
     * Begins to plan a step.
     *
     * @param isAnyRunning whether requests run
     * @param isAnyDecoding whether one of them computes no prompt
     */
    public void begin(boolean isAnyRunning, boolean isAnyDecoding) {
        step = isAnyRunning ? step : 0;
        defersPrefills = isAnyDecoding && !isCapacityBound && step % interval != 0;
    }

    /** Returns whether the step that is being planned computes no prompt beyond its last token. */
    public boolean defersPrefills() {
        return defersPrefills;
    }

    /** Returns whether a running request is passed over in this step. */
    public boolean defers(boolean isPrefillChunk) {
        return isPrefillChunk && defersPrefills;
    }

    /**
     * Takes note of what the step admits.
     *
     * @param hasAdmitted whether admissions were tried: not after a preemption
     * @param areLeft whether requests are left, those that were passed over aside
     */
    public void endAdmissions(boolean hasAdmitted, boolean areLeft) {
        if (hasAdmitted && !defersPrefills) {
            isCapacityBound = areLeft;
        }
    }

    /** Takes note that the step planned goes to the device. */
    public void onPlanned() {
        step++;
    }

    /**
     * Counts as the group does.
     *
     * @param number the step of the group that has ended, from 0
     * @param numInFlight steps planned behind it
     */
    public void onGroupStep(long number, int numInFlight) {
        step = number + 1 + numInFlight;
    }
}
