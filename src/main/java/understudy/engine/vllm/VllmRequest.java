package understudy.engine.vllm;

import org.jspecify.annotations.Nullable;
import understudy.engine.EngineRequest;
import understudy.engine.FinishReason;
import understudy.engine.OutputSampler;
import understudy.engine.Request;
import understudy.engine.vllm.queue.QueuedRequest;
import understudy.kvcache.Admission;
import understudy.kvcache.PrefixCacheEvents;
import understudy.kvcache.connector.ExternalMatch;

/**
 * Request inside vLLM's scheduler: how far it has come, and when. Only its {@link StepPlanner} changes it.
 *
 * <p>There is no prefill or decode phase: computed tokens are always catching up with known ones (vLLM {@code
 * v1/request.py}).
 */
public final class VllmRequest extends EngineRequest implements QueuedRequest {
    final OutputSampler sampler;

    /** Status of a request in the scheduler. */
    enum Status {
        /** In a waiting queue, never scheduled. */
        WAITING,
        /** In a waiting queue, with blocks into which its KV is being loaded. */
        WAITING_FOR_REMOTE_KVS,
        /** In the running list. */
        RUNNING,
        /** In a waiting queue again, without blocks, with the output it had. */
        PREEMPTED,
        /** Removed from the scheduler. */
        FINISHED
    }

    /** Place in the running list: the larger, the later. */
    int runningOrder;

    /** Membership in the cohort of decodes, or null outside of it. */
    @Nullable CohortMember cohortMember;

    Status status = Status.WAITING;
    // The fields below lag behind in a member of the cohort until it catches up; the public methods see to that.
    int numOutputTokens;

    /** Tokens whose KV is in the cache, or will be once the steps in flight have run. */
    int numComputedTokens;

    /** With asynchronous scheduling: tokens that steps in flight will sample, and that are not known yet. */
    int numPlaceholders;

    /** Tokens scheduled in steps whose result has not come. */
    int numInFlightTokens;

    /** The part of the tokens in flight that was scheduled before a preemption: delivered, but no longer counted. */
    int numStaleTokens;

    /** Whether it sampled nothing with the step in which it was scheduled last. */
    boolean isPrefillChunk;

    /** Tokens that the last result has brought, the first one of the answer included. */
    int numNewTokens = 1;

    /** Tokens for which the request holds blocks. */
    int numSlots;

    /** Known and computed tokens from which on the KV cache has one more block to put into its prefix table. */
    int nextTokensToCache;

    /** Goes up when everything in flight is to be dropped. */
    int epoch;

    /** Number of the last step in which the request was scheduled; 0 before the first. */
    long lastStep;

    int numPreemptions;

    int numCachedTokens;
    ExternalMatch external = ExternalMatch.NONE;
    PrefixCacheEvents prefixCacheEvents = PrefixCacheEvents.NONE;
    long scheduledNanos;

    /** When the first token was sampled, unless that was on another replica. */
    long firstTokenNanos;

    long lastTokenNanos;

    @Nullable FinishReason finishReason;

    VllmRequest(Request request, int handle, long queuedNanos) {
        super(request, handle, queuedNanos);
        sampler = sampler();
        lastTokenNanos = isResumed() ? request().progress().lastTokenNanos() : 0;
    }

    @Override
    public int numOutputTokens() {
        catchUp();
        return numOutputTokens;
    }

    @Override
    public int numNewTokens() {
        return numNewTokens;
    }

    @Override
    public long lastStep() {
        catchUp();
        return lastStep;
    }

    @Override
    public int numComputedTokens() {
        catchUp();
        return numComputedTokens;
    }

    @Override
    public int pendingPrefillTokens() {
        // Once it decodes, this may lag behind, but not below the prompt.
        return Math.max(0, numPromptTokens() - numComputedTokens);
    }

    @Override
    public PrefixCacheEvents prefixCacheEvents() {
        return prefixCacheEvents;
    }

    @Override
    public long scheduledNanos() {
        return scheduledNanos;
    }

    @Override
    public int numPreemptions() {
        return numPreemptions;
    }

    @Override
    public int numCachedTokens() {
        return numCachedTokens;
    }

    @Override
    public ExternalMatch external() {
        return external;
    }

    @Override
    public long firstTokenNanos() {
        return firstTokenNanos;
    }

    @Override
    public long lastTokenNanos() {
        catchUp();
        return lastTokenNanos;
    }

    @Override
    public @Nullable FinishReason finishReason() {
        return finishReason;
    }

    @Override
    public boolean isFinished() {
        return status == Status.FINISHED;
    }

    /** Returns whether the request waits for its KV. */
    public boolean isLoading() {
        return status == Status.WAITING_FOR_REMOTE_KVS;
    }

    boolean isPreempted() {
        return status == Status.PREEMPTED;
    }

    /** Returns how many blocks the request needs, besides those it has, for so many tokens. */
    int numNewBlocks(int numTokens, int blockSize) {
        return numTokens > numSlots ? (roundUp(numTokens, blockSize) - numSlots) / blockSize : 0;
    }

    void onBlocksGranted(int numTokens, int numTokensToCache, int blockSize) {
        numSlots = Math.max(numSlots, roundUp(numTokens, blockSize));
        completesBlock(numTokensToCache, blockSize);
    }

    /** Returns whether one more block is complete with {@code numTokens}, and counts it as cached. */
    boolean completesBlock(int numTokens, int blockSize) {
        if (numTokens < nextTokensToCache) {
            return false;
        }
        nextTokensToCache = numTokens - numTokens % blockSize + blockSize;
        return true;
    }

    void onAdmitted(Admission.Admitted admission, int numLookaheadTokens, long atNanos, int blockSize) {
        status = Status.RUNNING;
        boolean isLookedUp = numComputedTokens == 0;
        // After a full hit the last token is run as a decode, for the logits of the first answer token, unless they are
        // here.
        int numToRun = Math.min(1, admission.numScheduledTokens());
        numComputedTokens = Math.min(admission.numCachedTokens(), numTokens() - numToRun);
        int numComputedAfter = numComputedTokens + admission.numScheduledTokens();
        onBlocksGranted(numComputedAfter + numLookaheadTokens, Math.min(numComputedAfter, numTokens()), blockSize);
        if (numPreemptions == 0) {
            scheduledNanos = atNanos;
            if (isLookedUp) {
                note(admission.numCachedTokens(), admission.external(), admission.events());
            }
        }
    }

    /** Parks the request until its KV has come. */
    void onLoading(Admission.Loading loading, int blockSize) {
        status = Status.WAITING_FOR_REMOTE_KVS;
        numComputedTokens = loading.numCachedTokens();
        numSlots = roundUp(numComputedTokens, blockSize);
        if (numPreemptions == 0) {
            note(loading.numCachedTokens(), loading.external(), loading.events());
        }
    }

    private void note(int numCached, ExternalMatch external, PrefixCacheEvents events) {
        numCachedTokens = numCached;
        this.external = external;
        prefixCacheEvents = events;
    }

    /** Ends the wait for KV; without any, the prompt is looked up anew. */
    void onKvArrived() {
        status = numPreemptions > 0 ? Status.PREEMPTED : Status.WAITING;
        numSlots = numComputedTokens == 0 ? 0 : numSlots;
    }

    /** Output tokens are kept; everything else is computed again after the next admission. */
    void onPreempted() {
        status = Status.PREEMPTED;
        numPreemptions++;
        numComputedTokens = 0;
        numPlaceholders = 0;
        numStaleTokens = numInFlightTokens;
        numSlots = 0;
        nextTokensToCache = 0;
    }

    /** Drops the tokens of steps in flight; they may be scheduled again at once. */
    void onReset() {
        epoch++;
        numInFlightTokens = 0;
        numStaleTokens = 0;
    }

    /** Counts scheduled tokens as computed, and returns whether more are to follow before one can be sampled. */
    boolean onScheduled(int numTokens, long step, boolean isAsync) {
        lastStep = step;
        numComputedTokens += numTokens;
        numInFlightTokens += numTokens;
        boolean isPartial = numComputedTokens < numTokens() + numPlaceholders;
        if (isAsync && !isPartial) {
            numPlaceholders++;
        }
        return isPartial;
    }

    /** Records that scheduled tokens have run, and returns whether they were scheduled before a preemption. */
    boolean onExecuted(int numTokens) {
        numInFlightTokens -= numTokens;
        boolean isStale = numStaleTokens > 0;
        numStaleTokens = Math.max(0, numStaleTokens - numTokens);
        return isStale;
    }

    /** Takes over the progress that the request has made as a member of the cohort. */
    void catchUp() {
        if (cohortMember != null) {
            cohortMember.catchUp();
        }
    }

    static int roundUp(int value, int step) {
        return (value + step - 1) / step * step;
    }

    @Override
    public String toString() {
        return "request " + id() + " " + status + " " + numComputedTokens() + "/" + numTokens();
    }
}
