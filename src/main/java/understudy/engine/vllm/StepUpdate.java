package understudy.engine.vllm;

import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import understudy.engine.FinishReason;
import understudy.engine.RequestTable;
import understudy.engine.speculation.DraftOutput;
import understudy.engine.vllm.queue.WaitingQueues;
import understudy.kvcache.BlockCacheSpec;

/** Applies a step's result to the requests (vLLM {@code Scheduler.update_from_output} and {@code check_stop}). */
final class StepUpdate {
    private final int blockSize;
    private final int maxModelLen;
    private final boolean cachesPrefixes;
    private final boolean sharesWithinStep;
    private final boolean isAsync;
    private final RequestTable<VllmRequest> requests;
    private final WaitingQueues<VllmRequest> waiting;
    private final RunningList running;
    private final DecodeCohort cohort;
    private final StepRule[] rules;
    private final Set<VllmRequest> toDrop = new HashSet<>();
    private final VllmResult result;

    StepUpdate(
            BlockCacheSpec kvCache,
            boolean isAsync,
            RequestTable<VllmRequest> requests,
            WaitingQueues<VllmRequest> waiting,
            RunningList running,
            DecodeCohort cohort,
            SchedulerRules rules) {
        blockSize = kvCache.growthUnit();
        maxModelLen = kvCache.maxModelLen();
        cachesPrefixes = kvCache.enablePrefixCaching();
        sharesWithinStep = kvCache.sharesWithinStep();
        this.isAsync = isAsync;
        this.requests = requests;
        this.waiting = waiting;
        this.running = running;
        this.cohort = cohort;
        this.rules = rules.on;
        result = new VllmResult(rules.drafts.numSpeculativeTokens(), rules.loads.areOn());
    }

    VllmResult apply(VllmPlan plan, long atNanos, DraftOutput output) {
        result.begin(plan.step(), atNanos);
        if (plan.hasCohort() && !cohort.canExecute()) {
            cohort.dissolve();
        }
        if (plan.hasCohort()) {
            applyToCohort(plan, atNanos);
        }
        for (int i = plan.numMembers(); i < plan.size(); i++) {
            var request = plan.request(i);
            if (!request.isFinished() && !plan.isOutdated(i)) {
                request.catchUp();
                int numDrafts = plan.numDrafts(i);
                int numAccepted = numDrafts == 0 ? 0 : output.accepted().getInt(i);
                apply(request, plan.numScheduledTokens(i), plan.isPartial(i), numDrafts, numAccepted, atNanos);
                for (int j = 0; j < rules.length && !request.isFinished(); j++) {
                    rules[j].onResult(request, plan, i, output);
                }
            }
        }
        toDrop.clear();
        cohort.onStepEnded(atNanos);
        var finished = result.finished();
        for (int i = 0; i < finished.size(); i++) {
            cohort.onRemoved(running.remove((VllmRequest) finished.get(i)));
        }
        return result;
    }

    /** Leaves the requests as they are when the next result is applied. */
    void dropResults(Collection<VllmRequest> requestsToDrop) {
        toDrop.addAll(requestsToDrop);
    }

    /** Applies a result to the members that get a token and go on, as one, and then to those that end. */
    private void applyToCohort(VllmPlan plan, long atNanos) {
        long gapNanos = atNanos - cohort.lastEndNanos();
        var ended = cohort.onExecuted();
        result.addMembers(cohort, plan.numMembersToGoOn(), gapNanos);
        for (int i = 0; i < ended.size(); i++) {
            var request = ended.get(i);
            apply(request, 1, false, 0, 0, atNanos);
            if (!request.isFinished()) {
                throw new IllegalStateException("an answer goes on that was to end: " + request);
            }
        }
        result.endMembers();
    }

    private void apply(
            VllmRequest request, int numTokens, boolean isPartial, int numDrafts, int numAccepted, long atNanos) {
        boolean isStale = request.onExecuted(numTokens);
        if (!toDrop.isEmpty() && toDrop.contains(request)) {
            return;
        }
        if (numDrafts > 0) {
            verify(request, numDrafts, numAccepted);
        }
        int numTokensToCache = isStale ? 0 : executedTokens(request, numTokens);
        if (!isPartial) {
            append(request, isStale, numTokensToCache, 1 + numAccepted, atNanos);
        } else if (numTokensToCache > 0) {
            result.settlement().add(request.handle(), numTokensToCache, request.numTokens());
        }
    }

    /** Counts drafts, and takes the rejected ones back, unless the request has lost all since. */
    private void verify(VllmRequest request, int numDrafts, int numAccepted) {
        result.drafts().add(numDrafts, numAccepted);
        int numRejected = numDrafts - numAccepted;
        request.numComputedTokens -= request.numComputedTokens > 0 ? numRejected : 0;
        request.numPlaceholders -= request.numPlaceholders > 0 ? numRejected : 0;
    }

    void abort(VllmRequest request) {
        if (request.cohortMember != null) {
            cohort.dissolve();
        }
        end(request, FinishReason.ABORT);
        running.remove(request);
    }

    /**
     * Appends sampled tokens, up to the end of the answer. Stale ones are delivered too, but no longer count as
     * outstanding.
     *
     * @param numExecutedTokens tokens that can be cached whatever was sampled, or 0
     */
    private void append(VllmRequest request, boolean isStale, int numExecutedTokens, int numSampled, long atNanos) {
        stamp(request, atNanos);
        var finishReason = sample(request, numSampled);
        result.addSampled(request, request.numNewTokens);
        int numTokensToCache = Math.min(numExecutedTokens, request.numTokens());
        if (isAsync) {
            request.numPlaceholders -= isStale ? 0 : request.numNewTokens;
            if (sharesWithinStep && request.status == VllmRequest.Status.RUNNING) {
                numTokensToCache = completedTokens(request);
            }
        }
        if (finishReason != null) {
            end(request, finishReason);
            result.addFinished(request);
            result.settlement().end(request.handle(), numTokensToCache, request.numTokens(), request.lastStep());
        } else if (numTokensToCache > 0) {
            result.settlement().add(request.handle(), numTokensToCache, request.numTokens());
        }
    }

    /** Samples so many tokens, or as many as it takes to end the answer, and returns why it ends if it does. */
    private @Nullable FinishReason sample(VllmRequest request, int count) {
        FinishReason finishReason = null;
        request.numNewTokens = 0;
        while (request.numNewTokens < count && finishReason == null) {
            boolean isEndOfSequence = request.sampler.sample();
            request.numNewTokens++;
            request.numOutputTokens++;
            finishReason = request.stopReason(isEndOfSequence, maxModelLen);
        }
        return finishReason;
    }

    /** Notes when tokens have come, before they are counted; those of one step come as one. */
    private void stamp(VllmRequest request, long atNanos) {
        if (request.numOutputTokens == 0 && !request.isResumed()) {
            request.firstTokenNanos = atNanos;
        } else {
            result.addGap(atNanos - request.lastTokenNanos);
        }
        request.lastTokenNanos = atNanos;
    }

    /** Returns the tokens to cache if a block has become complete with this token, or 0. */
    private int completedTokens(VllmRequest request) {
        int numTokens = request.numComputedTokens - request.numPlaceholders;
        return cachesPrefixes && request.completesBlock(numTokens, blockSize) ? numTokens : 0;
    }

    /**
     * Returns, if the KV cache does not know yet what the step was to compute, how many tokens are computed now; or 0
     * if neither a block nor the prompt has become complete with the {@code numTokens} of the step.
     */
    private int executedTokens(VllmRequest request, int numTokens) {
        if (sharesWithinStep || !cachesPrefixes) {
            return 0;
        }
        int after = request.numComputedTokens - request.numInFlightTokens;
        int before = after - numTokens;
        boolean completesBlock = after / blockSize > before / blockSize;
        boolean completesPrompt = before < request.numPromptTokens() && after >= request.numPromptTokens();
        return completesBlock || completesPrompt ? after : 0;
    }

    private void end(VllmRequest request, FinishReason reason) {
        if (request.status != VllmRequest.Status.RUNNING) {
            waiting.remove(request);
        }
        cohort.leave(request);
        for (var rule : rules) {
            rule.onEnded(request);
        }
        request.status = VllmRequest.Status.FINISHED;
        request.finishReason = reason;
        requests.remove(request);
    }
}
