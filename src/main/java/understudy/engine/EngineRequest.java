package understudy.engine;

import org.jspecify.annotations.Nullable;
import understudy.kvcache.Admission;
import understudy.kvcache.PrefixCacheEvents;
import understudy.kvcache.PrefixLookup;
import understudy.kvcache.connector.ExternalMatch;

/**
 * A request inside a scheduler: how far it has come, and when. Only its {@link Planner} changes it.
 *
 * <p>There is no prefill or decode phase: computed tokens are always catching up with known ones (vLLM {@code
 * v1/request.py}).
 */
public final class EngineRequest extends IdentifiedRequest {
    final long queuedNanos;
    final OutputSampler sampler;

    /** Place in the running list: the larger, the later. */
    int runningOrder;

    /** Membership in the cohort of decodes, or null outside of it. */
    @Nullable CohortMember cohortMember;

    Status status = EngineRequest.Status.WAITING;
    // What follows lags behind in a member of the cohort until it catches up; the public methods see to that.
    int numOutputTokens;

    /** Tokens whose KV is in the cache, or will be once the steps in flight have run. */
    int numComputedTokens;

    /** With asynchronous scheduling: tokens that steps in flight will sample, and that are not known yet. */
    int numPlaceholders;

    /** Tokens scheduled in steps whose result has not come. */
    int numInFlightTokens;

    /** The part of the tokens in flight that was scheduled before a preemption: delivered, but no longer counted. */
    int numStaleTokens;

    /** Drafts to be verified with the next step. */
    int numDrafts;

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

    /** Number of the first step in which a running request may be scheduled again. */
    long eligibleStep;

    /** Whether the KV that the request waits for has come, or will not come. */
    boolean hasKvArrived;

    int numPreemptions;

    /** Where a cached prefix ended, at the last look, for some layers only; 0 for nowhere. */
    int numJunctionTokens;

    int numCachedTokens;
    ExternalMatch external = ExternalMatch.NONE;
    PrefixCacheEvents prefixCacheEvents = PrefixCacheEvents.NONE;
    long scheduledNanos;

    /** When the first token was sampled, unless that was on another replica. */
    long firstTokenNanos;

    long lastTokenNanos;

    @Nullable FinishReason finishReason;

    EngineRequest(Request request, int handle, long queuedNanos) {
        super(request, handle);
        this.queuedNanos = queuedNanos;
        sampler = new OutputSampler(request.output());
        lastTokenNanos = isResumed() ? request().progress().lastTokenNanos() : 0;
    }

    /** Returns the tokens sampled on this replica. */
    public int numOutputTokens() {
        catchUp();
        return numOutputTokens;
    }

    /** Returns the tokens of the answer so far, those of replicas before this one included. */
    public int numAnswerTokens() {
        return numOutputTokens() + request().numEarlierTokens();
    }

    /** Returns how many tokens the last result brought that brought any. */
    public int numNewTokens() {
        return numNewTokens;
    }

    /** Returns the tokens that are known: the prompt, and the output so far. */
    public int numTokens() {
        return numPromptTokens() + numOutputTokens();
    }

    /** Returns the token that was sampled last; there must be one. */
    public int lastTokenId() {
        return sampler.tokenAt(numOutputTokens() - 1);
    }

    /** Returns how often a token of the answer was read before it was sampled. */
    public int numPeeks() {
        return sampler.numPeeks();
    }

    public long lastStep() {
        catchUp();
        return lastStep;
    }

    public int numComputedTokens() {
        catchUp();
        return numComputedTokens;
    }

    public int numPreemptions() {
        return numPreemptions;
    }

    /** Returns the prompt tokens found in the cache at the first admission. */
    public int numCachedTokens() {
        return numCachedTokens;
    }

    /** Returns those of the cached tokens that have come from elsewhere. */
    public ExternalMatch external() {
        return external;
    }

    /** Returns when its first token was sampled here. */
    public long firstTokenNanos() {
        return firstTokenNanos;
    }

    /** Returns when the latest token of the answer was sampled; 0 before the first. */
    public long lastTokenNanos() {
        catchUp();
        return lastTokenNanos;
    }

    /** Returns why the request ended, or null while it has not. */
    public @Nullable FinishReason finishReason() {
        return finishReason;
    }

    public boolean isFinished() {
        return status == EngineRequest.Status.FINISHED;
    }

    /** Returns whether the request waits for its KV. */
    public boolean isLoading() {
        return status == EngineRequest.Status.WAITING_FOR_REMOTE_KVS;
    }

    boolean isPreempted() {
        return status == EngineRequest.Status.PREEMPTED;
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
        status = EngineRequest.Status.RUNNING;
        boolean isLookedUp = numComputedTokens == 0;
        numJunctionTokens = admission.numJunctionTokens();
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
        status = EngineRequest.Status.WAITING_FOR_REMOTE_KVS;
        hasKvArrived = false;
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
        status = numPreemptions > 0 ? EngineRequest.Status.PREEMPTED : EngineRequest.Status.WAITING;
        hasKvArrived = false;
        numSlots = numComputedTokens == 0 ? 0 : numSlots;
    }

    /** Output tokens are kept; everything else is computed again after the next admission. */
    void onPreempted() {
        status = EngineRequest.Status.PREEMPTED;
        numPreemptions++;
        numComputedTokens = 0;
        numPlaceholders = 0;
        numStaleTokens = numInFlightTokens;
        numSlots = 0;
        nextTokensToCache = 0;
    }

    /** Drops what steps in flight will bring; they may be scheduled again at once. */
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

    /** Takes over what has come of the request as a member of the cohort. */
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

    /** Returns what of the request may be cached. */
    PrefixLookup lookup() {
        return lookup(numTokens());
    }
}
