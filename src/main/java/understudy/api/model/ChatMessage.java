package understudy.api.model;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import understudy.api.http.ApiException;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;

/**
 * One message of a conversation.
 *
 * @param content its text, empty if it has none
 * @param source the fields that it came with
 */
public record ChatMessage(String role, String content, List<ToolCall> toolCalls, JsonNode source) {
    private static final Set<String> TEXT_PARTS = Set.of("text", "input_text", "output_text", "refusal");

    /** Creates a message that came with nothing else. */
    public ChatMessage(String role, String content, List<ToolCall> toolCalls) {
        this(role, content, toolCalls, MissingNode.getInstance());
    }

    /** Reads a message as chat completions have them. */
    public static ChatMessage read(JsonBody message) {
        String role = message.text("role");
        if (role == null) {
            throw ApiException.invalid("Field required", message.at("role"));
        }
        var calls = new ArrayList<ToolCall>();
        for (var call : message.objects("tool_calls")) {
            var function = call.object("function");
            calls.add(new ToolCall(textOf(call, "id"), textOf(function, "name"), textOf(function, "arguments")));
        }
        var content = message.get("content");
        return new ChatMessage(
                role, content == null ? "" : text(content, message.at("content")), calls, message.node());
    }

    /** Returns the text of a content, which is a string or a list of parts. */
    public static String text(JsonNode content, String path) {
        if (content.isTextual()) {
            return content.textValue();
        }
        if (!content.isArray()) {
            throw ApiException.invalid("Input should be a valid string or list", path);
        }
        var texts = new ArrayList<String>();
        for (var part : content) {
            if (part.isTextual()) {
                texts.add(part.textValue());
                continue;
            }
            String type = part.path("type").asText("");
            if (!TEXT_PARTS.contains(type)) {
                throw type.isEmpty()
                        ? ApiException.invalid("Field required", path + "." + texts.size() + ".type")
                        : ApiException.badRequest("This model does not support the content part type " + type, path);
            }
            texts.add(part.path(type.equals("refusal") ? "refusal" : "text").asText(""));
        }
        return String.join("\n", texts);
    }

    private static String textOf(JsonBody body, String key) {
        var value = body.get(key);
        return value == null ? "" : value.isTextual() ? value.textValue() : Json.write(value);
    }
}
