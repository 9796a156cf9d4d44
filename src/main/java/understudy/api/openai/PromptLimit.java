package understudy.api.openai;

import org.jspecify.annotations.Nullable;
import understudy.api.call.GenerationParams;
import understudy.api.http.ApiException;
import understudy.api.model.ModelSettings;
import understudy.api.model.PromptText;
import understudy.api.model.Tokenizer;

/**
 * Length limit of a prompt (vLLM {@code renderers/params.py}). Text that cannot fit is refused by its characters,
 * without being encoded; other text is encoded only as far as needed to see whether it fits.
 *
 * @param maxModelLen most tokens of prompt and answer together
 * @param asked output tokens that are asked for, or null for as many as fit
 * @param numKept tokens to keep of the prompt, from its end, or 0 for all
 */
public record PromptLimit(int maxModelLen, @Nullable Integer asked, int numKept) {

    /** Returns the limit of a request's prompts. */
    public static PromptLimit of(ModelSettings model, GenerationParams params) {
        return new PromptLimit(model.maxModelLen(), params.maxTokens(), params.truncatePrompt());
    }

    private int numOutput() {
        return asked == null ? 0 : asked;
    }

    private int maxTokens() {
        return Math.max(0, maxModelLen - numOutput());
    }

    /** Returns the tokens to go on with: one more than may be if there are too many. */
    public int[] encode(PromptText text, Tokenizer tokenizer) {
        if (numKept > 0) {
            return text.encodeEnd(tokenizer, numKept);
        }
        long maxChars = (long) maxTokens() * tokenizer.maxCharsPerToken();
        // Asking for more than the context is another mistake, which the first token shows.
        if (text.numChars() > maxChars && numOutput() <= maxModelLen) {
            throw refusal(
                    numOutput(),
                    text.numChars() + " characters (more than " + maxChars
                            + " characters, which is the upper bound for " + maxTokens() + " input tokens)",
                    "input_text",
                    text.numChars());
        }
        return text.encode(tokenizer, maxTokens() + 1);
    }

    /** Refuses a list of token ids by its length; one that is to be cut may be of any. */
    public void requireIds(int numIds) {
        if (numKept == 0 && numIds > maxTokens()) {
            throw tooLong(numIds);
        }
    }

    /** Returns how many tokens may be put out, at least 1; refuses a prompt that does not fit into the context. */
    public int requireRoom(int numPromptTokens) {
        int room = maxModelLen - numPromptTokens;
        if (room < (asked == null ? 1 : asked)) {
            throw tooLong(numPromptTokens);
        }
        return asked == null ? room : asked;
    }

    /** A prompt with one token too many has perhaps not been encoded any further. */
    private ApiException tooLong(int numPromptTokens) {
        String qualifier = numPromptTokens == maxTokens() + 1 ? "at least " : "";
        int wanted = asked == null && numPromptTokens == maxModelLen ? 1 : numOutput();
        return refusal(
                wanted,
                qualifier + numPromptTokens + " input tokens, for a total of " + qualifier
                        + ((long) numPromptTokens + wanted) + " tokens",
                "input_tokens",
                numPromptTokens);
    }

    private ApiException refusal(int wanted, String whatItHas, String param, long value) {
        return ApiException.parameter(
                "This model's maximum context length is " + maxModelLen + " tokens. However, you requested " + wanted
                        + " output tokens and your prompt contains " + whatItHas
                        + ". Please reduce the length of the input prompt or the number of requested output tokens.",
                param,
                value);
    }
}
