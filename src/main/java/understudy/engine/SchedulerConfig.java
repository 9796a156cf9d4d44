package understudy.engine;

import understudy.engine.queue.SchedulingPolicy;

/**
 * The scheduler's settings, under vLLM's names ({@code vllm/config/scheduler.py}).
 *
 * @param maxNumSeqs most requests in the running list, at least 1
 * @param maxNumBatchedTokens token budget of one step, at least {@code maxNumSeqs}
 * @param maxModelLen longest sequence in tokens, prompt and output together, at least 2
 * @param longPrefillTokenThreshold cap on the tokens of one request in one step, or 0 for none
 * @param enableChunkedPrefill whether a prompt may be cut to fit the budget
 * @param reserveFullSequence whether a request is admitted only if all its known tokens fit into free blocks ({@code
 *     scheduler_reserve_full_isl})
 * @param policy order of the waiting queue
 * @param preemptionVictim who gives way when blocks run out
 * @param asyncScheduling whether step n+1 is planned while step n runs
 * @param blockSize tokens per KV block, at least 1
 * @param enablePrefixCaching whether full blocks stay findable
 * @param sharesWithinStep whether the KV cache shares a block as soon as it is allocated; else the scheduler has to tell it,
 *     with a step's result, what has been computed
 */
public record SchedulerConfig(
        int maxNumSeqs,
        int maxNumBatchedTokens,
        int maxModelLen,
        int longPrefillTokenThreshold,
        boolean enableChunkedPrefill,
        boolean reserveFullSequence,
        SchedulingPolicy policy,
        PreemptionVictim preemptionVictim,
        boolean asyncScheduling,
        int blockSize,
        boolean enablePrefixCaching,
        boolean sharesWithinStep)
        implements PlannerConfig {

    /** Checks the ranges. */
    public SchedulerConfig {
        if (maxNumSeqs < 1 || maxNumBatchedTokens < 1 || maxModelLen < 2 || blockSize < 1) {
            throw new IllegalArgumentException("maxNumSeqs " + maxNumSeqs + ", maxNumBatchedTokens "
                    + maxNumBatchedTokens + ", maxModelLen " + maxModelLen + ", blockSize " + blockSize);
        }
    }

    /** Shares blocks within a step, as vLLM V1 does. */
    public SchedulerConfig(
            int maxNumSeqs,
            int maxNumBatchedTokens,
            int maxModelLen,
            int longPrefillTokenThreshold,
            boolean enableChunkedPrefill,
            boolean reserveFullSequence,
            SchedulingPolicy policy,
            PreemptionVictim preemptionVictim,
            boolean asyncScheduling,
            int blockSize,
            boolean enablePrefixCaching) {
        this(
                maxNumSeqs,
                maxNumBatchedTokens,
                maxModelLen,
                longPrefillTokenThreshold,
                enableChunkedPrefill,
                reserveFullSequence,
                policy,
                preemptionVictim,
                asyncScheduling,
                blockSize,
                enablePrefixCaching,
                true);
    }

    /**
     * Returns a scheduler that works as vLLM V1 does by default, but for the sizes and asynchronous scheduling.
     *
     * @param maxNumSeqs most requests in the running list
     * @param maxNumBatchedTokens token budget of one step
     * @param maxModelLen longest sequence in tokens
     * @param blockSize tokens per KV block
     */
    public static SchedulerConfig ofVllm(int maxNumSeqs, int maxNumBatchedTokens, int maxModelLen, int blockSize) {
        return new SchedulerConfig(
                maxNumSeqs,
                maxNumBatchedTokens,
                maxModelLen,
                0,
                true,
                true,
                SchedulingPolicy.FCFS,
                PreemptionVictim.AUTO,
                false,
                blockSize,
                true);
    }

    @Override
    public Planner createPlanner() {
        return new StepPlanner(this);
    }

    @Override
    public int maxStepsInFlight() {
        return asyncScheduling ? 2 : 1;
    }
}
