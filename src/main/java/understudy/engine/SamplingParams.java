package understudy.engine;

import it.unimi.dsi.fastutil.ints.IntSet;
import it.unimi.dsi.fastutil.ints.IntSets;

/**
 * End conditions of an answer, and treatment of its prompt (vLLM {@code sampling_params.py}).
 *
 * @param maxTokens most output tokens, at least 1
 * @param minTokens output tokens before which nothing ends the answer, at least 0
 * @param ignoreEos whether an end-of-sequence token is a token like any other
 * @param stopTokenIds tokens that end the answer, the token itself included
 * @param skipReadingPrefixCache whether the whole prompt is computed even if it is cached, as for prompt logprobs
 */
public record SamplingParams(
        int maxTokens, int minTokens, boolean ignoreEos, IntSet stopTokenIds, boolean skipReadingPrefixCache) {

    /** Checks the ranges. */
    public SamplingParams {
        if (maxTokens < 1 || minTokens < 0) {
            throw new IllegalArgumentException("maxTokens " + maxTokens + ", minTokens " + minTokens);
        }
    }

    /** Returns the same parameters with another limit on the answer. */
    public SamplingParams withMaxTokens(int newMaxTokens) {
        return new SamplingParams(newMaxTokens, minTokens, ignoreEos, stopTokenIds, skipReadingPrefixCache);
    }

    /** Returns the parameters of the rest of an answer behind its first {@code count} tokens, fewer than the most. */
    SamplingParams after(int count) {
        return new SamplingParams(
                maxTokens - count, Math.max(0, minTokens - count), ignoreEos, stopTokenIds, skipReadingPrefixCache);
    }

    /** Returns parameters that end an answer at its end-of-sequence token, or after {@code maxTokens}. */
    public static SamplingParams ofMaxTokens(int maxTokens) {
        return new SamplingParams(maxTokens, 0, false, IntSets.EMPTY_SET, false);
    }
}
