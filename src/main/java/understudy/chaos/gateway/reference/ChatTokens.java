package understudy.chaos.gateway.reference;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import understudy.api.model.ChatMessage;
import understudy.api.model.ChatPrompt;
import understudy.api.model.ChatTemplate;
import understudy.api.model.Tokenizer;
import understudy.json.Jackson;
import understudy.prompt.Prompt;
import understudy.prompt.TokenIds;

/** Tokens of prompts as the replicas count them: by the vocabulary and the chat template of the emulated model. */
final class ChatTokens {
    private static final TokenIds NOTHING = new TokenIds(0);

    private final Tokenizer tokenizer = Tokenizer.Vocabulary.CL100K_BASE.load();
    private final ChatTemplate template = ChatTemplate.ofMarks(tokenizer);

    /** Returns the prompt of a completion or of a chat. */
    Prompt prompt(JsonNode body) {
        int[] tokens = body.path("messages").isArray() ? chat(body.path("messages")) : text(body.path("prompt"));
        return new Prompt(tokens.length == 0 ? NOTHING : new TokenIds(tokens));
    }

    private int[] text(JsonNode prompt) {
        return tokenizer.encode(prompt.asText());
    }

    private int[] chat(JsonNode messages) {
        var read = new ArrayList<ChatMessage>();
        messages.forEach(message -> read.add(new ChatMessage(
                message.path("role").asText(), message.path("content").asText(), List.of())));
        var chat =
                new ChatPrompt(read, null, true, false, false, Jackson.mapper().createObjectNode());
        return template.render(chat).encode(tokenizer, Integer.MAX_VALUE);
    }
}
