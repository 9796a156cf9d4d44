package understudy.engine;

import java.util.Optional;

/**
 * Which requests a replica can ever serve (vLLM checks the same in its front end).
 *
 * @param maxModelLen longest sequence in tokens, prompt and output together
 * @param maxKvTokens tokens for which there are blocks when nothing else runs
 */
public record RequestLimits(int maxModelLen, long maxKvTokens) {
    /** Turns nothing away: what the scheduler gets, it has to cope with. */
    public static final RequestLimits NONE = new RequestLimits(Integer.MAX_VALUE, Long.MAX_VALUE);

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
        if (total > maxKvTokens) {
            return Optional.of(
                    "The KV cache holds " + maxKvTokens + " tokens, but the request needs up to " + total + ".");
        }
        return Optional.empty();
    }
}
