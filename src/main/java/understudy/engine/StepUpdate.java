package understudy.engine;

import org.jspecify.annotations.Nullable;
import understudy.engine.queue.WaitingQueues;
import understudy.kvcache.KvCacheConfig;

/** Applies a step's result to the requests (vLLM {@code Scheduler.update_from_output} and {@code check_stop}). */
final class StepUpdate {
    private final int blockSize;
    private final int maxModelLen;
    private final boolean cachesPrefixes;
    private final boolean sharesWithinStep;
    private final boolean isAsync;
    private final RequestTable requests;
    private final WaitingQueues<EngineRequest> waiting;
    private final RunningList running;
    private final StepResult result = new StepResult();

    StepUpdate(
            KvCacheConfig kvCache,
            boolean isAsync,
            RequestTable requests,
            WaitingQueues<EngineRequest> waiting,
            RunningList running) {
        blockSize = kvCache.blockSize();
        maxModelLen = kvCache.maxModelLen();
        cachesPrefixes = kvCache.enablePrefixCaching();
        sharesWithinStep = kvCache.sharesWithinStep();
        this.isAsync = isAsync;
        this.requests = requests;
        this.waiting = waiting;
        this.running = running;
    }

    StepResult apply(StepPlan plan, long atNanos) {
        result.begin(plan.step(), atNanos);
        for (int i = 0; i < plan.size(); i++) {
            var request = plan.request(i);
            if (request.isFinished() || plan.isOutdated(i)) {
                continue;
            }
            int numTokens = plan.numScheduledTokens(i);
            boolean isStale = request.onExecuted(numTokens);
            int numTokensToCache = isStale ? 0 : executedTokens(request, numTokens);
            if (!plan.isPartial(i)) {
                append(request, isStale, numTokensToCache, atNanos);
            } else if (numTokensToCache > 0) {
                result.settlement().add(request.handle(), numTokensToCache, request.numTokens(), false);
            }
        }
        if (!result.finished().isEmpty()) {
            running.removeFinished();
        }
        return result;
    }

    void abort(EngineRequest request) {
        end(request, FinishReason.ABORT);
        running.remove(request);
    }

    /**
     * Appends one sampled token. A stale one is delivered too, but no longer counts as outstanding.
     *
     * @param numExecutedTokens what can be cached whatever was sampled, or 0
     */
    private void append(EngineRequest request, boolean isStale, int numExecutedTokens, long atNanos) {
        boolean isEndOfSequence = request.sample();
        stamp(request, atNanos);
        result.addSampled(request);
        var finishReason = checkStop(request, isEndOfSequence);
        int numTokensToCache = numExecutedTokens;
        if (isAsync) {
            request.numPlaceholders -= isStale ? 0 : 1;
            if (sharesWithinStep && request.status == RequestStatus.RUNNING) {
                numTokensToCache = completedTokens(request);
            }
        }
        if (finishReason != null) {
            end(request, finishReason);
            result.addFinished(request);
        }
        if (finishReason != null || numTokensToCache > 0) {
            result.settlement().add(request.handle(), numTokensToCache, request.numTokens(), finishReason != null);
        }
    }

    private void stamp(EngineRequest request, long atNanos) {
        if (request.numOutputTokens++ == 0) {
            request.firstTokenNanos = atNanos;
        } else {
            result.addGap(atNanos - request.lastTokenNanos);
        }
        request.lastTokenNanos = atNanos;
    }

    private @Nullable FinishReason checkStop(EngineRequest request, boolean isEndOfSequence) {
        var sampling = request.request().sampling();
        if (request.numOutputTokens < sampling.minTokens()) {
            return null;
        }
        if ((isEndOfSequence && !sampling.ignoreEos()) || endsWithStopToken(request)) {
            return FinishReason.STOP;
        }
        boolean isAtLimit = request.numTokens() >= maxModelLen || request.numOutputTokens >= sampling.maxTokens();
        return isAtLimit ? FinishReason.LENGTH : null;
    }

    private static boolean endsWithStopToken(EngineRequest request) {
        var stopTokenIds = request.request().sampling().stopTokenIds();
        return !stopTokenIds.isEmpty() && stopTokenIds.contains(request.lastTokenId());
    }

    /** Returns the tokens to cache if a block has become complete with this token, or 0. */
    private int completedTokens(EngineRequest request) {
        int numTokens = request.numComputedTokens - request.numPlaceholders;
        return cachesPrefixes && request.completesBlock(numTokens, blockSize) ? numTokens : 0;
    }

    /**
     * Returns, if the KV cache does not know yet what the step was to compute, how many tokens are computed now; or 0
     * if neither a block nor the prompt has become complete with the {@code numTokens} of the step.
     */
    private int executedTokens(EngineRequest request, int numTokens) {
        if (sharesWithinStep || !cachesPrefixes) {
            return 0;
        }
        int after = request.numComputedTokens - request.numInFlightTokens;
        int before = after - numTokens;
        boolean completesBlock = after / blockSize > before / blockSize;
        boolean completesPrompt = before < request.numPromptTokens() && after >= request.numPromptTokens();
        return completesBlock || completesPrompt ? after : 0;
    }

    private void end(EngineRequest request, FinishReason reason) {
        if (request.status != RequestStatus.RUNNING) {
            waiting.remove(request);
        }
        request.status = RequestStatus.FINISHED;
        request.finishReason = reason;
        requests.remove(request);
    }
}
