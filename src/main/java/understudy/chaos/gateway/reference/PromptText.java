package understudy.chaos.gateway.reference;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import understudy.json.Jackson;
import understudy.prompt.Prompt;
import understudy.prompt.TokenSequence;

/**
 * What a gateway knows of a call's prompt.
 *
 * @param prompt tokens that stand for its text
 * @param model name of the model, or an empty text
 * @param isStreamed whether the answer comes as events
 */
record PromptText(Prompt prompt, String model, boolean isStreamed) {
    /** Bytes of text that count as one token, as usual for English. */
    private static final int BYTES_PER_TOKEN = 4;

    private static final int SESSION_BYTES = 256;
    private static final int HASH_BASE = 31;

    /**
     * Reads the body of a request; one that is not JSON has an empty prompt, and the replica will say what is wrong.
     *
     * @param isByCharacters whether each character of the whole body counts as a token
     */
    static PromptText of(byte[] body, boolean isByCharacters) {
        var json = tree(body);
        byte[] text = isByCharacters ? body : text(json).getBytes(StandardCharsets.UTF_8);
        return new PromptText(
                new Prompt(tokens(text, isByCharacters ? 1 : BYTES_PER_TOKEN)),
                json.path("model").asText(),
                json.path("stream").asBoolean());
    }

    /** Reads the body of a request, with the tokens that the replicas count. */
    static PromptText exactly(byte[] body, ChatTokens tokens) {
        var json = tree(body);
        return new PromptText(
                tokens.prompt(json),
                json.path("model").asText(),
                json.path("stream").asBoolean());
    }

    /** Returns a number that is the same for prompts with the same beginning. */
    int session() {
        int hash = 0;
        for (int i = 0; i < Math.min(SESSION_BYTES / BYTES_PER_TOKEN, prompt.length()); i++) {
            hash = HASH_BASE * hash + prompt.tokens().tokenAt(i);
        }
        return hash;
    }

    private static JsonNode tree(byte[] body) {
        try {
            return Jackson.mapper().readTree(new String(body, StandardCharsets.UTF_8));
        } catch (JsonProcessingException e) {
            return Jackson.mapper().createObjectNode();
        }
    }

    private static String text(JsonNode json) {
        var text = new StringBuilder(json.path("prompt").asText())
                .append(json.path("text").asText());
        json.path("messages").forEach(message -> {
            var content = message.path("content");
            text.append('\n').append(message.path("role").asText()).append(": ");
            text.append(content.isTextual() ? content.asText() : content.toString());
        });
        return text.toString();
    }

    /** A last token that is cut short counts as a whole one, so that there is always one. */
    private static TokenSequence tokens(byte[] text, int bytesPerToken) {
        int length = text.length / bytesPerToken + 1;
        return new TokenSequence() {
            @Override
            public int length() {
                return length;
            }

            @Override
            public int tokenAt(int index) {
                int token = 0;
                for (int i = index * bytesPerToken; i < Math.min(text.length, (index + 1) * bytesPerToken); i++) {
                    token = (token << Byte.SIZE) | (text[i] & 0xff);
                }
                return token;
            }
        };
    }
}
