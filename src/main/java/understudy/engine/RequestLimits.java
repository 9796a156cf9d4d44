package understudy.engine;

import java.util.Optional;

/**
 * Limits on the requests that a replica can ever serve (vLLM checks the same in its front end).
 *
 * @param maxModelLen longest sequence in tokens, prompt and output together
 * @param maxKvTokens tokens for which a request may have blocks when nothing else runs
 * @param overflow treatment of a longer one
 * @param blockSize tokens per KV block, at least 1
 * @param maxTokensBeyondEnd tokens beyond its longest answer for which a request may need blocks, unless it would then
 *     be longer than {@code maxModelLen}
 * @param cutsAnswers whether an answer is cut to what the KV memory has room for, where its request would be turned away
 */
public record RequestLimits(
        int maxModelLen,
        long maxKvTokens,
        ContextOverflow overflow,
        int blockSize,
        int maxTokensBeyondEnd,
        boolean cutsAnswers) {
    /** Treatment of a request that is longer than the context window, or than the KV cache. */
    public enum ContextOverflow {
        /** It is turned away, as vLLM does. */
        REJECT,
        /** Its prompt loses its oldest tokens: a sliding window over the conversation. */
        TRUNCATE_OLDEST
    }

    /** No limits: the scheduler gets every request. */
    public static final RequestLimits NONE = new RequestLimits(Integer.MAX_VALUE, Long.MAX_VALUE);

    /** Creates limits of an engine that cuts no answers. */
    public RequestLimits(
            int maxModelLen, long maxKvTokens, ContextOverflow overflow, int blockSize, int maxTokensBeyondEnd) {
        this(maxModelLen, maxKvTokens, overflow, blockSize, maxTokensBeyondEnd, false);
    }

    /** Creates limits beyond which requests are rejected. */
    public RequestLimits(int maxModelLen, long maxKvTokens) {
        this(maxModelLen, maxKvTokens, ContextOverflow.REJECT, 1);
    }

    /** Creates limits of an engine without speculation. */
    public RequestLimits(int maxModelLen, long maxKvTokens, ContextOverflow overflow, int blockSize) {
        this(maxModelLen, maxKvTokens, overflow, blockSize, 0);
    }

    /** Returns the limits of a KV cache with at most so many blocks, the null block included. */
    public RequestLimits withKvBlocks(int numGpuBlocks, int blockSizeOfCache) {
        long maxTokens = Math.min(maxKvTokens, (numGpuBlocks - 1L) * blockSizeOfCache);
        return new RequestLimits(maxModelLen, maxTokens, overflow, blockSize, maxTokensBeyondEnd, cutsAnswers);
    }

    /** Returns the limits of a KV cache with room for so many tokens less. */
    public RequestLimits withLess(int numTokens) {
        return new RequestLimits(
                maxModelLen, maxKvTokens - numTokens, overflow, blockSize, maxTokensBeyondEnd, cutsAnswers);
    }

    private long maxTokens() {
        return maxModelLen <= maxKvTokens ? maxModelLen : maxKvTokens - maxTokensBeyondEnd;
    }

    /**
     * Returns the request, or with {@link ContextOverflow#TRUNCATE_OLDEST} one whose prompt has lost as many whole
     * blocks at its beginning as it takes to fit; unchanged if not even that would help.
     */
    public Request fit(Request request) {
        long numPrompt = request.prompt().length();
        if (cutsAnswers && numPrompt < maxKvTokens && numPrompt + request.maxTokens() <= maxModelLen) {
            return request.withMaxTokens((int) Math.min(request.maxTokens(), maxKvTokens - numPrompt));
        }
        long excess = numPrompt + request.maxTokens() - maxTokens();
        long dropped = (excess + blockSize - 1) / blockSize * blockSize;
        if (overflow == ContextOverflow.REJECT || excess <= 0 || dropped >= numPrompt) {
            return request;
        }
        return request.withPrompt(request.prompt().withoutFirst((int) dropped));
    }

    /** Returns why a request can never be served, or empty if it can. */
    public Optional<String> refusal(Request request) {
        long numPrompt = request.prompt().length();
        long total = numPrompt + request.maxTokens();
        if (total > maxModelLen) {
            return Optional.of("This model's maximum context length is " + maxModelLen
                    + " tokens. However, you requested " + request.maxTokens()
                    + " output tokens and your prompt contains " + numPrompt + " input tokens, for a total of " + total
                    + " tokens.");
        }
        if (total > maxTokens()) {
            return Optional.of("The KV cache has room for " + maxTokens() + " tokens of a request, which needs up to "
                    + total + ".");
        }
        return Optional.empty();
    }
}
