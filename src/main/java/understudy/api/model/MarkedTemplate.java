package understudy.api.model;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import understudy.api.http.Json;

/**
 * Substitute for a template where there is none: each message stands between special tokens, those of ChatML or the
 * model's own. Contents are encoded by themselves, so that an answer sent back gives the same tokens as when it was
 * sampled.
 */
final class MarkedTemplate implements ChatTemplate {
    private static final String TOOLS_INTRODUCTION = """
            # Tools

            You may call one or more functions to assist with the user query.
            <tools>
            """;
    private static final String TOOLS_END = """
            </tools>

            For each call, return a JSON object with name and arguments within <tool_call></tool_call>.""";

    private final ChatMarkers markers;

    MarkedTemplate(Tokenizer tokenizer) {
        markers = tokenizer.markers();
    }

    @Override
    public PromptText render(ChatPrompt chat) {
        var messages = chat.messages();
        var tools = chat.tools() == null ? List.<JsonNode>of() : chat.tools();
        var prompt = new PromptText();
        add(prompt, markers.begin());
        boolean hasSystem = !messages.isEmpty() && messages.get(0).role().equals("system");
        if (!tools.isEmpty() && !hasSystem) {
            open(prompt, "system");
            prompt.add(introduce(tools));
            close(prompt);
        }
        for (int i = 0; i < messages.size(); i++) {
            boolean staysOpen = chat.continuesLast() && i == messages.size() - 1;
            message(prompt, messages.get(i), i == 0 && hasSystem ? tools : List.of(), staysOpen);
        }
        if (chat.opensAnswer()) {
            open(prompt, "assistant");
        }
        return prompt;
    }

    private void message(PromptText prompt, ChatMessage message, List<JsonNode> tools, boolean staysOpen) {
        open(prompt, message.role());
        prompt.add(message.content());
        if (!tools.isEmpty()) {
            prompt.add("\n\n" + introduce(tools));
        }
        if (!message.toolCalls().isEmpty()) {
            prompt.add(ToolCall.text(message.toolCalls()));
        }
        if (!staysOpen) {
            close(prompt);
        }
    }

    private static String introduce(List<JsonNode> tools) {
        var text = new StringBuilder(TOOLS_INTRODUCTION);
        tools.forEach(tool -> text.append(Json.write(tool)).append('\n'));
        return text.append(TOOLS_END).toString();
    }

    private void open(PromptText prompt, String role) {
        add(prompt, markers.open());
        prompt.add(markers.role(role));
        add(prompt, markers.afterRole());
    }

    private void close(PromptText prompt) {
        add(prompt, markers.close());
    }

    private static void add(PromptText prompt, ChatMarkers.Marker marker) {
        if (!marker.isEmpty()) {
            prompt.addKnown(marker.text(), marker.tokens());
        }
    }
}
