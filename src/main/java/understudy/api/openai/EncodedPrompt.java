package understudy.api.openai;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import understudy.api.http.ApiException;
import understudy.api.http.JsonBody;
import understudy.api.model.PromptText;
import understudy.api.model.Tokenizer;
import understudy.prompt.TokenIds;

/**
 * A prompt in tokens.
 *
 * @param question supplies the prompt's question as text; made only when it is read
 * @param continuesText whether the answer stands right behind the text of the prompt
 */
record EncodedPrompt(TokenIds tokens, Supplier<String> question, boolean continuesText) {
    private static final int MAX_PROMPTS = 1024;

    /** Stands between two texts, as the separator of a cross-encoder does. */
    private static final String PAIR = "\n\n";

    EncodedPrompt(TokenIds tokens, String question, boolean continuesText) {
        this(tokens, () -> question, continuesText);
    }

    /** Reads a field such as {@code prompt}: a string, a list of strings, a list of token ids, or a list of such lists. */
    static List<EncodedPrompt> read(JsonBody body, String key, Tokenizer tokenizer, PromptLimit limit) {
        var prompt = key.equals("prompt") ? body.get(key) : body.require(key);
        if (prompt == null
                || (key.equals("prompt")
                        && prompt.isTextual()
                        && prompt.textValue().isEmpty())) {
            throw ApiException.parameter("Either prompt or prompt_embeds must be provided and non-empty.", "prompt");
        }
        String path = body.at(key);
        boolean hasEnds = body.bool("add_special_tokens", true);
        if (prompt.isTextual()) {
            return List.of(ofText(prompt.textValue(), hasEnds, tokenizer, limit));
        }
        if (!prompt.isArray()) {
            throw ApiException.invalid("Input should be a valid string or list", path);
        }
        if (prompt.size() > 0 && prompt.get(0).isNumber()) {
            return List.of(ofTokens(prompt, path, tokenizer, limit));
        }
        if (prompt.size() > MAX_PROMPTS) {
            throw ApiException.parameter(
                    key + " list length " + prompt.size() + " exceeds the maximum allowed count of " + MAX_PROMPTS
                            + ". To increase this limit, set the VLLM_MAX_COMPLETION_PROMPTS environment variable.",
                    key);
        }
        var prompts = new ArrayList<EncodedPrompt>();
        for (var each : prompt) {
            prompts.add(ofEntry(each, path + "." + prompts.size(), hasEnds, tokenizer, limit));
        }
        if (prompts.isEmpty()) {
            throw empty();
        }
        return prompts;
    }

    private static EncodedPrompt ofEntry(
            JsonNode entry, String path, boolean hasEnds, Tokenizer tokenizer, PromptLimit limit) {
        if (entry.isTextual()) {
            return ofText(entry.textValue(), hasEnds, tokenizer, limit);
        }
        if (entry.isArray()) {
            return ofTokens(entry, path, tokenizer, limit);
        }
        throw ApiException.invalid("Input should be a valid string or list", path);
    }

    private static EncodedPrompt ofText(String text, boolean hasEnds, Tokenizer tokenizer, PromptLimit limit) {
        var prompt = hasEnds ? PromptText.between(tokenizer, text) : PromptText.of(text);
        var ids = checked(limit.encode(prompt, tokenizer), tokenizer);
        return new EncodedPrompt(ids, text, true);
    }

    /** Returns the prompt of a text and of another one that is read together with it, unless that is empty. */
    static EncodedPrompt ofTexts(String[] pair, Tokenizer tokenizer, PromptLimit limit) {
        return ofText(pair[1].isEmpty() ? pair[0] : pair[0] + PAIR + pair[1], true, tokenizer, limit);
    }

    private static EncodedPrompt ofTokens(JsonNode array, String path, Tokenizer tokenizer, PromptLimit limit) {
        limit.requireIds(array.size());
        var ids = checked(JsonBody.tokens(array, path), tokenizer);
        return new EncodedPrompt(ids, () -> tokenizer.decode(ids), true);
    }

    private static TokenIds checked(int[] tokens, Tokenizer tokenizer) {
        if (tokens.length == 0) {
            throw empty();
        }
        tokenizer.requireKnown(tokens);
        return new TokenIds(tokens);
    }

    private static ApiException empty() {
        return ApiException.badRequest("The decoder prompt cannot be empty", "prompt");
    }

    /** Returns the prompt, or only its last {@code limit} tokens unless that is 0. */
    EncodedPrompt truncated(int limit) {
        if (limit == 0 || tokens.length() <= limit) {
            return this;
        }
        var kept = new int[limit];
        tokens.copy(tokens.length() - limit, limit, kept, 0);
        return new EncodedPrompt(new TokenIds(kept), question, continuesText);
    }
}
