package understudy.engine.vllm;

import understudy.engine.vllm.queue.SchedulingPolicy;

/** Choice of the running request that gives up its blocks when there are too few. */
public enum PreemptionVictim {
    /** As vLLM: the least urgent one with the priority policy, else the one admitted last. */
    AUTO,
    /** The request admitted last. */
    LAST_ADMITTED,
    /** The request admitted first ({@code --preemption-mode fifo} of Dynamo's mocker). */
    FIRST_ADMITTED,
    /** The largest (priority, arrival); the one admitted first among equals. */
    LEAST_URGENT,
    /** The fewest output tokens, then the longest prompt, as SGLang retracts; the one admitted last among equals. */
    FEWEST_OUTPUTS;

    PreemptionVictim orDefaultOf(SchedulingPolicy policy) {
        if (this != AUTO) {
            return this;
        }
        return policy == SchedulingPolicy.PRIORITY ? LEAST_URGENT : LAST_ADMITTED;
    }

    /** Returns the index of the victim; there is at least one running request. */
    int indexIn(RunningList running) {
        return switch (this) {
            case FIRST_ADMITTED -> 0;
            case LEAST_URGENT -> leastUrgent(running);
            case FEWEST_OUTPUTS -> fewestOutputs(running);
            case AUTO, LAST_ADMITTED -> running.size() - 1;
        };
    }

    private static int leastUrgent(RunningList running) {
        int victimIndex = 0;
        for (int i = 1; i < running.size(); i++) {
            var victim = running.get(victimIndex).request();
            var other = running.get(i).request();
            if (other.priority() > victim.priority()
                    || (other.priority() == victim.priority() && other.arrivalNanos() > victim.arrivalNanos())) {
                victimIndex = i;
            }
        }
        return victimIndex;
    }

    private static int fewestOutputs(RunningList running) {
        int victimIndex = 0;
        for (int i = 1; i < running.size(); i++) {
            var victim = running.get(victimIndex);
            var other = running.get(i);
            int fewer = Integer.compare(victim.numOutputTokens(), other.numOutputTokens());
            if (fewer > 0 || (fewer == 0 && other.numPromptTokens() >= victim.numPromptTokens())) {
                victimIndex = i;
            }
        }
        return victimIndex;
    }
}
