package understudy.engine;

import understudy.kvcache.Prompt;

/**
 * One call of the API, as it travels from its sender to a replica.
 *
 * @param id unique in the emulation
 * @param name vLLM's {@code request_id}, which breaks ties of priority and arrival; compared as text
 * @param arrivalNanos when the sender sent it, in virtual time
 * @param prompt what is asked
 * @param maxTokens most output tokens the sender accepts, at least 1 ({@code max_tokens})
 * @param minTokens output tokens before which an end-of-sequence token does not count, at least 0
 * @param priority smaller goes first, with the priority policy only
 * @param output what the model will answer
 */
public record Request(
        long id,
        String name,
        long arrivalNanos,
        Prompt prompt,
        int maxTokens,
        int minTokens,
        int priority,
        OutputScript output) {

    /** Checks the ranges. */
    public Request {
        if (maxTokens < 1 || minTokens < 0) {
            throw new IllegalArgumentException(
                    "request " + id + ": maxTokens " + maxTokens + ", minTokens " + minTokens);
        }
    }

    /** Returns a request as benchmarks send it: without a priority, named by its number. */
    public static Request of(long id, long arrivalNanos, Prompt prompt, int maxTokens, OutputScript output) {
        return new Request(id, "", arrivalNanos, prompt, maxTokens, 0, 0, output);
    }
}
