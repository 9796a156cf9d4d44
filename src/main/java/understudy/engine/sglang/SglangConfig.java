package understudy.engine.sglang;

import io.soabase.recordbuilder.core.RecordBuilder;
import org.jspecify.annotations.Nullable;
import understudy.kvcache.radix.RadixConfig;

/**
 * Settings of SGLang's scheduler, under its names.
 *
 * @param overlaps whether results are applied a turn later (not {@code disable_overlap_schedule})
 * @param chunkedPrefillSize most tokens of a prefill batch, or 0 for no limit ({@code chunked_prefill_size})
 * @param mixesChunks whether prefill batches take the running requests along ({@code enable_mixed_chunk})
 * @param prefillMaxRequests most requests of a prefill batch, or 0 for no limit
 * @param maxModelLen longest sequence in tokens ({@code context_length})
 * @param retractsByPriority whether the least important is retracted first ({@code retraction_policy} {@code priority})
 * @param estimate how much of an output is expected still to come
 * @param queue how many wait, and how long
 * @param requeuesRefusedPreemption whether a request that was preempted for one that is then refused waits again; SGLang
 *     forgets it
 * @param windowEvictionInterval forwards between two looks at who has left the window
 * @param disaggregation the role of disaggregation, or null for both
 * @param verification what a decode verifies of each request, or null without drafts
 * @param maxLorasPerBatch most LoRA adapters of the running requests and a prefill batch together, the base model counting
 *     as one; 0 without adapters
 * @param prefillDecodeInterval turns after a prefill batch in which there is no other; 0 for none
 * @param prefillDelay when prefills are put off, or null for never ({@code enable_prefill_delayer})
 * @param seed of the order {@link SchedulePolicy#RANDOM}
 */
@RecordBuilder
public record SglangConfig(
        SchedulePolicy schedulePolicy,
        boolean overlaps,
        int chunkedPrefillSize,
        boolean mixesChunks,
        int maxPrefillTokens,
        int prefillMaxRequests,
        int maxRunningRequests,
        int maxModelLen,
        double scheduleConservativeness,
        Priorities priorities,
        boolean retractsByPriority,
        Estimate estimate,
        Queue queue,
        boolean requeuesRefusedPreemption,
        int windowEvictionInterval,
        @Nullable Disaggregation disaggregation,
        @Nullable Verification verification,
        RadixConfig memory,
        int maxLorasPerBatch,
        int prefillDecodeInterval,
        @Nullable Delay prefillDelay,
        long seed) {
    /**
     * Delay of prefills.
     *
     * @param lowWatermark share of the tokens that are in use, below which none is put off; 0 for none ({@code
     *     prefill_delayer_token_usage_low_watermark})
     * @param queueMinRatio waiting requests for each that runs, below which prefills are put off; 0 for none ({@code
     *     prefill_delayer_queue_min_ratio})
     * @param maxDelayNanos how long at most for that reason ({@code prefill_delayer_max_delay_ms})
     * @param maxDelayPasses turns of a wait for other ranks, and one more ({@code prefill_delayer_max_delay_passes})
     */
    public record Delay(double lowWatermark, double queueMinRatio, long maxDelayNanos, int maxDelayPasses) {}

    /**
     * Estimate of the output still to come, as a part of the most that it may be.
     *
     * @param initRatio that part at first, for a conservativeness of 1 ({@code SGLANG_INIT_NEW_TOKEN_RATIO})
     * @param minRatioFactor its least, as a part of the first ({@code SGLANG_MIN_NEW_TOKEN_RATIO_FACTOR})
     * @param decaySteps decode steps until it is at its least ({@code SGLANG_NEW_TOKEN_RATIO_DECAY_STEPS})
     * @param clipMaxNewTokens most output tokens that count ({@code SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION})
     */
    public record Estimate(double initRatio, double minRatioFactor, int decaySteps, int clipMaxNewTokens) {
        /** As SGLang has it. */
        public static final Estimate DEFAULT = new Estimate(0.7, 0.14, 600, 4096);

        /** Returns the same estimate with another decay. */
        public Estimate withDecaySteps(int steps) {
            return new Estimate(initRatio, minRatioFactor, steps, clipMaxNewTokens);
        }
    }

    /**
     * Limits on the waiting queue.
     *
     * @param maxRequests most requests in it, or 0 for no limit ({@code max_queued_requests})
     * @param timeoutNanos how long each waits at most, or 0 for no limit ({@code SGLANG_REQ_WAITING_TIMEOUT})
     */
    public record Queue(int maxRequests, long timeoutNanos) {
        /** No limits. */
        public static final Queue UNLIMITED = new Queue(0, 0);
    }

    /**
     * Priorities of requests.
     *
     * @param areOn whether they count at all ({@code enable_priority_scheduling})
     * @param lowFirst whether low values go first ({@code schedule_low_priority_values_first})
     * @param preempts whether a more important request takes the place of others (not {@code
     *     disable_priority_preemption})
     * @param preemptionThreshold how much more important it must at least be than each of them, exclusive; at least 0
     */
    public record Priorities(boolean areOn, boolean lowFirst, boolean preempts, int preemptionThreshold) {
        /** Priorities do not count. */
        public static final Priorities NONE = new Priorities(false, false, false, 10);

        /** Returns the value of a request that has none: the least preferred one. */
        public long unset() {
            return lowFirst ? Long.MAX_VALUE : Long.MIN_VALUE;
        }

        /** Compares two values; the preferred one comes first. */
        public int compare(long one, long other) {
            return lowFirst ? Long.compare(one, other) : Long.compare(other, one);
        }

        /** Returns whether a value is preferred to another one by more than the threshold. */
        boolean mayPreempt(long one, long other) {
            long preferred = lowFirst ? other : one;
            long rest = lowFirst ? one : other;
            // A difference that does not fit is that to a request without a priority.
            long difference = preferred - rest;
            return preferred > rest && (difference < 0 || difference > preemptionThreshold);
        }

        boolean arePreempting() {
            return areOn && preempts;
        }
    }

    /**
     * Verification of drafts.
     *
     * @param numSteps drafts that may be accepted ({@code speculative_num_steps})
     * @param numDraftTokens tokens that are computed for each request, its own among them ({@code
     *     speculative_num_draft_tokens})
     */
    public record Verification(int numSteps, int numDraftTokens) {}

    /**
     * Role of one of two engines that share the work on a request.
     *
     * @param isPrefill whether it computes prompts; else it decodes
     * @param numReservedDecodeTokens tokens that are kept free for each running request
     * @param decodePollingInterval turns between two looks at the queues of a decoding engine
     * @param decodeExtraSlots requests that a decoding engine may hold besides those that run
     * @param optimisticPrefillAttempts how often a prefill may start before the handshake is done
     */
    public record Disaggregation(
            boolean isPrefill,
            int numReservedDecodeTokens,
            int decodePollingInterval,
            int decodeExtraSlots,
            int optimisticPrefillAttempts) {}

    boolean chunksPrefill() {
        return chunkedPrefillSize > 0;
    }

    boolean isMixing() {
        return mixesChunks && chunksPrefill();
    }

    double initNewTokenRatio() {
        return Math.min(estimate.initRatio * scheduleConservativeness, 1);
    }

    double minNewTokenRatio() {
        return Math.min(initNewTokenRatio() * estimate.minRatioFactor, 1);
    }

    double newTokenRatioDecay() {
        return (initNewTokenRatio() - minNewTokenRatio()) / estimate.decaySteps;
    }

    /** Returns how many output tokens are kept free for a request that may have so many. */
    int clipped(int maxNewTokens) {
        return Math.min(maxNewTokens, estimate.clipMaxNewTokens);
    }

    /** Returns how many output tokens a running request is expected to need still. */
    double offset(int maxNewTokens, int numOutputTokens, double newTokenRatio) {
        return clipped(maxNewTokens - numOutputTokens) * newTokenRatio;
    }

    /** Returns the policy that is in force: without a tree none goes by prefixes. */
    SchedulePolicy effectivePolicy() {
        boolean needsTree = schedulePolicy == SchedulePolicy.LPM || schedulePolicy == SchedulePolicy.DFS_WEIGHT;
        return needsTree && memory.disableRadixCache() ? SchedulePolicy.FCFS : schedulePolicy;
    }

    /** Returns the output tokens that a request may have ({@code init_req_max_new_tokens}). */
    public int maxNewTokens(int asked, int numPromptTokens) {
        int total = memory.maxTotalTokens();
        int pageSize = memory.pageSize();
        int ceil = (numPromptTokens + pageSize - 1) / pageSize * pageSize;
        int maxLength = Math.min(maxModelLen - 1, total - 1);
        int room = Math.min(maxLength - numPromptTokens - 1, total - ceil - pageSize - 1);
        return Math.max(0, Math.min(asked, room));
    }
}
