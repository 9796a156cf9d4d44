package understudy.api;

import com.fasterxml.jackson.databind.JsonNode;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import java.util.List;

/**
 * Turns a conversation into tokens, as ChatML: each message stands between two special tokens. Contents are encoded by
 * themselves, so that an answer sent back gives the same tokens as when it was sampled.
 */
final class ChatTemplate {
    private static final String TOOLS_INTRODUCTION = """
            # Tools

            You may call one or more functions to assist with the user query.
            <tools>
            """;
    private static final String TOOLS_END = """
            </tools>

            For each call, return a JSON object with name and arguments within <tool_call></tool_call>.""";

    private final Tokenizer tokenizer;
    private final int[] newline;

    ChatTemplate(Tokenizer tokenizer) {
        this.tokenizer = tokenizer;
        newline = tokenizer.encode("\n");
    }

    /**
     * Returns the prompt.
     *
     * @param tools definitions of functions, as they came
     * @param opensAnswer whether the prompt ends with the beginning of an answer
     * @param continuesLast whether the last message is to be continued, and so stays open
     */
    int[] render(List<ChatMessage> messages, List<JsonNode> tools, boolean opensAnswer, boolean continuesLast) {
        var tokens = new IntArrayList();
        boolean hasSystem = !messages.isEmpty() && messages.get(0).role().equals("system");
        if (!tools.isEmpty() && !hasSystem) {
            open(tokens, "system");
            append(tokens, introduce(tools));
            close(tokens);
        }
        for (int i = 0; i < messages.size(); i++) {
            boolean staysOpen = continuesLast && i == messages.size() - 1;
            message(tokens, messages.get(i), i == 0 && hasSystem ? tools : List.of(), staysOpen);
        }
        if (opensAnswer && !continuesLast) {
            open(tokens, "assistant");
        }
        return tokens.toIntArray();
    }

    private void message(IntArrayList tokens, ChatMessage message, List<JsonNode> tools, boolean staysOpen) {
        open(tokens, message.role());
        append(tokens, message.content());
        if (!tools.isEmpty()) {
            append(tokens, "\n\n" + introduce(tools));
        }
        if (!message.toolCalls().isEmpty()) {
            append(tokens, ToolCall.text(message.toolCalls()));
        }
        if (!staysOpen) {
            close(tokens);
        }
    }

    private static String introduce(List<JsonNode> tools) {
        var text = new StringBuilder(TOOLS_INTRODUCTION);
        tools.forEach(tool -> text.append(Json.write(tool)).append('\n'));
        return text.append(TOOLS_END).toString();
    }

    private void open(IntArrayList tokens, String role) {
        tokens.add(tokenizer.imStart());
        append(tokens, role + "\n");
    }

    private void close(IntArrayList tokens) {
        tokens.add(tokenizer.imEnd());
        tokens.addElements(tokens.size(), newline);
    }

    private void append(IntArrayList tokens, String text) {
        tokens.addElements(tokens.size(), tokenizer.encode(text));
    }
}
