package understudy.engine.vllm;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.Set;
import understudy.engine.lora.LoraConfig;
import understudy.engine.speculation.SpeculationConfig;
import understudy.engine.vllm.queue.SchedulingPolicy;

/**
 * The scheduler's settings, under vLLM's names ({@code vllm/config/scheduler.py}).
 *
 * @param maxNumSeqs places for running requests, at least 1
 * @param maxNumActiveSeqs most requests in the running list if that is fewer, or 0 for a request in each place
 * @param maxNumBatchedTokens token budget of one step, at least {@code maxNumSeqs}
 * @param longPrefills cap on the tokens of one request in one step
 * @param enableChunkedPrefill whether a prompt may be cut to fit the budget
 * @param reserveFullSequence whether a request is admitted only if all its known tokens fit into free blocks ({@code
 *     scheduler_reserve_full_isl})
 * @param policy order of the waiting queue
 * @param preemptionVictim request that gives way when blocks run out
 * @param asyncScheduling whether step n+1 is planned while step n runs
 * @param decodeCohortMinSeqs fewest running requests for which those that decode are scheduled as one where that comes
 *     to the same, or 0 for never; only for speed, and no setting of vLLM
 * @param prefillScheduleInterval steps of which one computes prompts while something decodes, at least 1; see {@link
 *     PrefillThrottle}
 * @param loras places for LoRA adapters
 * @param pipelineParallelSize stages of the device, at least 1: so many steps are in flight, with asynchronous scheduling
 *     one more
 * @param speculation drafts per request and step, and their tokens and slots
 * @param countsResumedAsNew whether a plan lists requests that are admitted again as new, as for vLLM's second model
 *     runner
 * @param knownBugs those of vLLM's known bugs that the scheduler has
 */
@RecordBuilder
@RecordBuilder.Options(enableWither = true)
public record SchedulerConfig(
        int maxNumSeqs,
        int maxNumActiveSeqs,
        int maxNumBatchedTokens,
        LongPrefillCap longPrefills,
        boolean enableChunkedPrefill,
        boolean reserveFullSequence,
        SchedulingPolicy policy,
        PreemptionVictim preemptionVictim,
        boolean asyncScheduling,
        int decodeCohortMinSeqs,
        int prefillScheduleInterval,
        LoraConfig loras,
        int pipelineParallelSize,
        SpeculationConfig speculation,
        boolean countsResumedAsNew,
        Set<KnownBug> knownBugs)
        implements SchedulerConfigBuilder.With {
    /** The defaults of vLLM V1's server on an H100, but for asynchronous scheduling. */
    public static final SchedulerConfig VLLM = SchedulerConfigBuilder.builder()
            .maxNumSeqs(1024)
            .maxNumBatchedTokens(8192)
            .longPrefills(LongPrefillCap.NONE)
            .enableChunkedPrefill(true)
            .reserveFullSequence(true)
            .policy(SchedulingPolicy.FCFS)
            .preemptionVictim(PreemptionVictim.AUTO)
            .asyncScheduling(false)
            .decodeCohortMinSeqs(8)
            .prefillScheduleInterval(1)
            .loras(LoraConfig.NONE)
            .pipelineParallelSize(1)
            .speculation(SpeculationConfig.NONE)
            .knownBugs(Set.of())
            .build();

    /** Checks the ranges. */
    public SchedulerConfig {
        knownBugs = Set.copyOf(knownBugs);
        if (maxNumSeqs < 1 || maxNumBatchedTokens < 1 || maxNumActiveSeqs < 0 || maxNumActiveSeqs > maxNumSeqs) {
            throw new IllegalArgumentException("maxNumSeqs " + maxNumSeqs + ", maxNumActiveSeqs " + maxNumActiveSeqs
                    + ", maxNumBatchedTokens " + maxNumBatchedTokens);
        }
        if (decodeCohortMinSeqs < 0 || prefillScheduleInterval < 1) {
            throw new IllegalArgumentException("decodeCohortMinSeqs " + decodeCohortMinSeqs
                    + ", prefillScheduleInterval " + prefillScheduleInterval);
        }
    }

    /** Returns the most requests in the running list, at least 1. */
    public int maxNumRunning() {
        return maxNumActiveSeqs > 0 ? maxNumActiveSeqs : maxNumSeqs;
    }

    /** Returns how many planned steps may be without a result at a time, at least 1. */
    public int maxStepsInFlight() {
        return asyncScheduling ? pipelineParallelSize + 1 : pipelineParallelSize;
    }
}
