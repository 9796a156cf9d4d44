package understudy.engine;

import org.jspecify.annotations.Nullable;
import understudy.kvcache.PrefixCacheEvents;
import understudy.kvcache.PrefixLookup;
import understudy.kvcache.connector.ExternalMatch;
import understudy.prompt.TokenSequence;

/**
 * Request inside an engine, as its replica reads it: how far it has come, and when. Each family of engines has a subclass
 * with the numbers that its decisions need, and only the engine changes them.
 */
public abstract class EngineRequest {
    private final Request request;
    private final int handle;
    private final long queuedNanos;
    private final int numPromptTokens;
    private final int maxTotalTokens;
    private final OutputSampler sampler;

    /**
     * Creates a request that has reached an engine.
     *
     * @param handle small number that names the request to the KV memory; no two unfinished requests have the same
     */
    protected EngineRequest(Request request, int handle, long queuedNanos) {
        this.request = request;
        this.handle = handle;
        this.queuedNanos = queuedNanos;
        numPromptTokens = request.prompt().length();
        maxTotalTokens = numPromptTokens + request.maxTokens();
        sampler = new OutputSampler(request.output());
    }

    public Request request() {
        return request;
    }

    /** Returns the small number that names the request to the KV memory. */
    public int handle() {
        return handle;
    }

    public long id() {
        return request.id();
    }

    public String name() {
        return request.name();
    }

    public int priority() {
        return request.priority();
    }

    public long arrivalNanos() {
        return request.arrivalNanos();
    }

    public int numPromptTokens() {
        return numPromptTokens;
    }

    public TokenSequence promptTokens() {
        return request.prompt().tokens();
    }

    /** Returns the tokens the request has when its answer is as long as it may be. */
    public int maxTotalTokens() {
        return maxTotalTokens;
    }

    /** Returns the sampler of its answer, for the engine alone. */
    public OutputSampler sampler() {
        return sampler;
    }

    /** Returns the question for the request's cached prefix, with as many tokens as are known. */
    public PrefixLookup lookup() {
        boolean readsCache = !request.sampling().skipReadingPrefixCache();
        return new PrefixLookup(handle, request.prompt(), request.output().tokens(), numTokens(), readsCache);
    }

    /** Returns whether the answer has begun on another replica. */
    public boolean isResumed() {
        return request.earlier() != null;
    }

    /** Returns the tokens sampled on this replica. */
    public abstract int numOutputTokens();

    /** Returns how many tokens the last result brought that brought any. */
    public abstract int numNewTokens();

    /** Returns the tokens whose KV is in the memory, or will be once the steps in flight have run. */
    public abstract int numComputedTokens();

    /** Returns the number of the last step in which the request was scheduled; 0 before the first. */
    public abstract long lastStep();

    /** Returns how often the request lost its blocks. */
    public abstract int numPreemptions();

    /** Returns the prompt tokens found in the cache at the first admission. */
    public abstract int numCachedTokens();

    /** Returns those of the cached tokens that have come from elsewhere. */
    public abstract ExternalMatch external();

    /** Returns the outcome of the look into the prefix cache at the first admission. */
    public abstract PrefixCacheEvents prefixCacheEvents();

    /** Returns when the request was first admitted. */
    public abstract long scheduledNanos();

    /** Returns when its first token was sampled here. */
    public abstract long firstTokenNanos();

    /** Returns when the latest token of the answer was sampled; 0 before the first. */
    public abstract long lastTokenNanos();

    /** Returns why the request ended, or null while it has not. */
    public abstract @Nullable FinishReason finishReason();

    /** Returns the prompt tokens that are not computed yet. */
    public int pendingPrefillTokens() {
        return Math.max(0, numPromptTokens - numComputedTokens());
    }

    /** Returns when the request entered the waiting queue. */
    public long queuedNanos() {
        return queuedNanos;
    }

    /** Returns whether the request has ended. */
    public boolean isFinished() {
        return finishReason() != null;
    }

    /** Returns the tokens of the answer so far, those of replicas before this one included. */
    public int numAnswerTokens() {
        return numOutputTokens() + request.numEarlierTokens();
    }

    /** Returns the tokens that are known: the prompt, and the output so far. */
    public int numTokens() {
        return numPromptTokens + numOutputTokens();
    }

    /** Returns the token that was sampled last; there must be one. */
    public int lastTokenId() {
        return sampler.tokenAt(numOutputTokens() - 1);
    }

    /** Returns how often a token of the answer was read before it was sampled. */
    public int numPeeks() {
        return sampler.numPeeks();
    }

    /**
     * Returns why the answer ends with the token that was sampled last, or null if it goes on (vLLM {@code check_stop}).
     *
     * @param isEndOfSequence whether that is the end-of-sequence token
     * @param maxModelLen longest sequence in tokens
     */
    public @Nullable FinishReason stopReason(boolean isEndOfSequence, int maxModelLen) {
        var sampling = request.sampling();
        int numOutputTokens = numOutputTokens();
        if (numOutputTokens < sampling.minTokens()) {
            return null;
        }
        if ((isEndOfSequence && !sampling.ignoreEos()) || endsWithStopToken()) {
            return FinishReason.STOP;
        }
        boolean isAtLimit = numPromptTokens + numOutputTokens >= maxModelLen || numOutputTokens >= sampling.maxTokens();
        return isAtLimit ? FinishReason.LENGTH : null;
    }

    private boolean endsWithStopToken() {
        var stopTokenIds = request.sampling().stopTokenIds();
        return !stopTokenIds.isEmpty() && stopTokenIds.contains(lastTokenId());
    }
}
