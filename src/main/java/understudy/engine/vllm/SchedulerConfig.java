package understudy.engine.vllm;

import understudy.engine.lora.LoraConfig;
import understudy.engine.speculation.SpeculationConfig;
import understudy.engine.vllm.queue.SchedulingPolicy;

/**
 * The scheduler's settings, under vLLM's names ({@code vllm/config/scheduler.py}).
 *
 * @param maxNumSeqs most requests in the running list, at least 1
 * @param maxNumBatchedTokens token budget of one step, at least {@code maxNumSeqs}
 * @param longPrefillTokenThreshold cap on the tokens of one request in one step, or 0 for none
 * @param enableChunkedPrefill whether a prompt may be cut to fit the budget
 * @param reserveFullSequence whether a request is admitted only if all its known tokens fit into free blocks ({@code
 *     scheduler_reserve_full_isl})
 * @param policy order of the waiting queue
 * @param preemptionVictim who gives way when blocks run out
 * @param asyncScheduling whether step n+1 is planned while step n runs
 * @param decodeCohortMinSeqs fewest running requests for which those that decode are scheduled as one where that comes
 *     to the same, or 0 for never; only for speed, and no setting of vLLM
 * @param prefillScheduleInterval steps of which one computes prompts while something decodes, at least 1; see {@link
 *     PrefillThrottle}
 * @param loras places for LoRA adapters
 * @param pipelineParallelSize stages of the device, at least 1: so many steps are in flight, with asynchronous scheduling
 *     one more
 * @param speculation drafts per request and step, and what they take
 */
public record SchedulerConfig(
        int maxNumSeqs,
        int maxNumBatchedTokens,
        int longPrefillTokenThreshold,
        boolean enableChunkedPrefill,
        boolean reserveFullSequence,
        SchedulingPolicy policy,
        PreemptionVictim preemptionVictim,
        boolean asyncScheduling,
        int decodeCohortMinSeqs,
        int prefillScheduleInterval,
        LoraConfig loras,
        int pipelineParallelSize,
        SpeculationConfig speculation) {
    /** The defaults of vLLM V1's server on an H100, but for asynchronous scheduling. */
    public static final SchedulerConfig VLLM = new SchedulerConfig(
            1024,
            8192,
            0,
            true,
            true,
            SchedulingPolicy.FCFS,
            PreemptionVictim.AUTO,
            false,
            8,
            1,
            LoraConfig.NONE,
            1,
            SpeculationConfig.NONE);

    /** Checks the ranges. */
    public SchedulerConfig {
        if (maxNumSeqs < 1 || maxNumBatchedTokens < 1) {
            throw new IllegalArgumentException(
                    "maxNumSeqs " + maxNumSeqs + ", maxNumBatchedTokens " + maxNumBatchedTokens);
        }
        if (decodeCohortMinSeqs < 0 || prefillScheduleInterval < 1) {
            throw new IllegalArgumentException("decodeCohortMinSeqs " + decodeCohortMinSeqs
                    + ", prefillScheduleInterval " + prefillScheduleInterval);
        }
    }

    /** Returns the same settings with other limits of a step. */
    public SchedulerConfig withLimits(int newMaxNumSeqs, int newMaxNumBatchedTokens) {
        return with(newMaxNumSeqs, newMaxNumBatchedTokens, asyncScheduling, decodeCohortMinSeqs, speculation);
    }

    /** Returns the same settings with asynchronous scheduling, or without. */
    public SchedulerConfig withAsyncScheduling(boolean isAsync) {
        return with(maxNumSeqs, maxNumBatchedTokens, isAsync, decodeCohortMinSeqs, speculation);
    }

    /** Returns the same settings with decodes scheduled as one from so many running requests on; never with 0. */
    public SchedulerConfig withDecodeCohortMinSeqs(int minSeqs) {
        return with(maxNumSeqs, maxNumBatchedTokens, asyncScheduling, minSeqs, speculation);
    }

    /** Returns the same settings with other drafts. */
    public SchedulerConfig withSpeculation(SpeculationConfig other) {
        return with(maxNumSeqs, maxNumBatchedTokens, asyncScheduling, decodeCohortMinSeqs, other);
    }

    private SchedulerConfig with(
            int numSeqs, int numBatchedTokens, boolean isAsync, int cohortMinSeqs, SpeculationConfig drafts) {
        return new SchedulerConfig(
                numSeqs,
                numBatchedTokens,
                longPrefillTokenThreshold,
                enableChunkedPrefill,
                reserveFullSequence,
                policy,
                preemptionVictim,
                isAsync,
                cohortMinSeqs,
                prefillScheduleInterval,
                loras,
                pipelineParallelSize,
                drafts);
    }

    /** Returns how many planned steps may be without a result at a time, at least 1. */
    public int maxStepsInFlight() {
        return asyncScheduling ? pipelineParallelSize + 1 : pipelineParallelSize;
    }
}
