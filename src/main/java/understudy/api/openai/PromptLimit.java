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
 * @param words of a refusal
 */
public record PromptLimit(int maxModelLen, @Nullable Integer asked, int numKept, Words words) {
    /** The words of vLLM. */
    public static final Words OF_VLLM = new VllmWords();

    /** Refusals of prompts that are too long. */
    public interface Words {

        /**
         * Returns the refusal of a prompt by its tokens.
         *
         * @param isAtLeast whether it may have more of them
         */
        ApiException tooManyTokens(PromptLimit limit, int numTokens, boolean isAtLeast);

        /**
         * Returns the refusal of a text by its characters, of which the tokens were not counted.
         *
         * @param maxChars most characters that could have fitted
         * @param maxCharsPerToken most characters of a token
         */
        ApiException tooManyChars(PromptLimit limit, long numChars, long maxChars, int maxCharsPerToken);
    }

    /** Returns the limit of a request's prompts. */
    public static PromptLimit of(ModelSettings model, GenerationParams params, Words words) {
        return new PromptLimit(model.maxModelLen(), params.maxTokens(), params.truncatePrompt(), words);
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
            throw words.tooManyChars(this, text.numChars(), maxChars, tokenizer.maxCharsPerToken());
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
        return words.tooManyTokens(this, numPromptTokens, numPromptTokens == maxTokens() + 1);
    }

    private static final class VllmWords implements Words {
        @Override
        public ApiException tooManyTokens(PromptLimit limit, int numTokens, boolean isAtLeast) {
            String qualifier = isAtLeast ? "at least " : "";
            int wanted = limit.asked == null && numTokens == limit.maxModelLen ? 1 : limit.numOutput();
            return refusal(
                    limit,
                    wanted,
                    qualifier + numTokens + " input tokens, for a total of " + qualifier + ((long) numTokens + wanted)
                            + " tokens",
                    "input_tokens",
                    numTokens);
        }

        @Override
        public ApiException tooManyChars(PromptLimit limit, long numChars, long maxChars, int maxCharsPerToken) {
            return refusal(
                    limit,
                    limit.numOutput(),
                    numChars + " characters (more than " + maxChars + " characters, which is the upper bound for "
                            + limit.maxTokens() + " input tokens)",
                    "input_text",
                    numChars);
        }

        private static ApiException refusal(PromptLimit limit, int wanted, String whatItHas, String param, long value) {
            return ApiException.parameter(
                    "This model's maximum context length is " + limit.maxModelLen + " tokens. However, you requested "
                            + wanted + " output tokens and your prompt contains " + whatItHas
                            + ". Please reduce the length of the input prompt or the number of requested output tokens.",
                    param,
                    value);
        }
    }
}
