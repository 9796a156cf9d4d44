package understudy.api.sglang;

import understudy.api.http.ApiException;
import understudy.api.openai.PromptLimit;

/**
 * Refusals of prompts that are too long ({@code managers/tokenizer_manager.py}, {@code _validate_one_request}). Of a prompt
 * that was not counted to its end, the least number of its tokens is told.
 */
public final class SglangLengths implements PromptLimit.Words {
    @Override
    public ApiException tooManyTokens(PromptLimit limit, int numTokens, boolean isAtLeast) {
        return refusal(limit, numTokens);
    }

    @Override
    public ApiException tooManyChars(PromptLimit limit, long numChars, long maxChars, int maxCharsPerToken) {
        return refusal(limit, (int) Math.min(Integer.MAX_VALUE, (numChars - 1) / maxCharsPerToken + 1));
    }

    private static ApiException refusal(PromptLimit limit, int numTokens) {
        int most = limit.maxModelLen();
        Integer asked = limit.asked();
        if (asked == null || numTokens >= most) {
            return ApiException.badRequest(
                    "The input (" + numTokens + " tokens) is longer than the model's context length (" + most
                            + " tokens).",
                    null);
        }
        return ApiException.badRequest(
                "Requested token count exceeds the model's maximum context length of " + most
                        + " tokens. You requested a total of " + ((long) numTokens + asked) + " tokens: " + numTokens
                        + " tokens from the input messages and " + asked
                        + " tokens for the completion. Please reduce the number of tokens in the input messages or the"
                        + " completion to fit within the limit.",
                null);
    }
}
