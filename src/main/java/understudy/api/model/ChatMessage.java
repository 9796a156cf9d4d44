package understudy.api.model;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import understudy.api.http.ApiException;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;
import understudy.api.media.MediaReader;

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

    /** Reads a message as chat completions have them, with marks in its content for the media that it has. */
    public static ChatMessage read(JsonBody message, MediaReader media) {
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
        if (content == null) {
            return new ChatMessage(role, "", calls, message.node());
        }
        var marked = marked(content, message.at("content"), media);
        var source = message.node();
        if (marked == null) {
            return new ChatMessage(role, text(content, message.at("content")), calls, source);
        }
        source = source.deepCopy();
        source.set("content", marked);
        return new ChatMessage(role, text(marked, message.at("content")), calls, source);
    }

    /** Returns the text of a content, with marks for the media that it has. */
    public static String text(JsonNode content, String path, MediaReader media) {
        var marked = marked(content, path, media);
        return text(marked == null ? content : marked, path);
    }

    /** Returns a content with texts in place of media, before all others, where vLLM puts them; null if it has none. */
    private static @Nullable JsonNode marked(JsonNode content, String path, MediaReader media) {
        if (!content.isArray()) {
            return null;
        }
        var marks = Json.array();
        var others = Json.array();
        for (var part : content) {
            String mark = media.mark(part, path);
            if (mark == null) {
                others.add(part);
            } else {
                marks.addObject().put("type", "text").put("text", mark);
            }
        }
        return marks.isEmpty() ? null : marks.addAll(others);
    }

    /** Returns the text of a content, which is a string or a list of parts. */
    static String text(JsonNode content, String path) {
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
