package understudy.engine;

import org.jspecify.annotations.Nullable;

/** Applies a step's result to the requests (vLLM {@code Scheduler.update_from_output} and {@code check_stop}). */
final class StepUpdate {
    private final SchedulerConfig config;
    private final RequestTable requests;
    private final WaitingQueues waiting;
    private final RunningList running;
    private final StepResult result = new StepResult();

    StepUpdate(SchedulerConfig config, RequestTable requests, WaitingQueues waiting, RunningList running) {
        this.config = config;
        this.requests = requests;
        this.waiting = waiting;
        this.running = running;
    }

    StepResult apply(StepPlan plan, long atNanos) {
        result.begin(plan.step());
        for (int i = 0; i < plan.size(); i++) {
            var request = plan.request(i);
            if (request.isFinished() || plan.isOutdated(i)) {
                continue;
            }
            boolean isStale = request.onExecuted(plan.numScheduledTokens(i));
            if (!plan.isPartial(i)) {
                append(request, isStale, atNanos);
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

    /** Appends one sampled token. A stale one is delivered too, but no longer counts as outstanding. */
    private void append(EngineRequest request, boolean isStale, long atNanos) {
        boolean isEndOfSequence = request.request().output().sample();
        stamp(request, atNanos);
        result.addSampled(request);
        var finishReason = checkStop(request, isEndOfSequence);
        int numTokensToCache = 0;
        if (config.asyncScheduling()) {
            request.numPlaceholders -= isStale ? 0 : 1;
            numTokensToCache = request.status == RequestStatus.RUNNING ? completedTokens(request) : 0;
        }
        if (finishReason != null) {
            end(request, finishReason);
            result.addFinished(request);
        }
        if (finishReason != null || numTokensToCache > 0) {
            result.settlement().add(request.handle(), numTokensToCache, finishReason != null);
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
        boolean isAtLimit =
                request.numTokens() >= config.maxModelLen() || request.numOutputTokens >= sampling.maxTokens();
        return isAtLimit ? FinishReason.LENGTH : null;
    }

    private static boolean endsWithStopToken(EngineRequest request) {
        var stopTokenIds = request.request().sampling().stopTokenIds();
        return !stopTokenIds.isEmpty() && stopTokenIds.contains(request.lastTokenId());
    }

    /** Returns the tokens to cache if a block has become complete with this token, or 0. */
    private int completedTokens(EngineRequest request) {
        int numTokens = request.numComputedTokens - request.numPlaceholders;
        return config.enablePrefixCaching() && request.completesBlock(numTokens, config.blockSize()) ? numTokens : 0;
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
