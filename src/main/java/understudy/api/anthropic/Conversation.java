package understudy.api.anthropic;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import understudy.api.http.ApiException;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;

/** Converter of a conversation into the messages of a chat completion (vLLM {@code _convert_messages}). */
final class Conversation {
    private static final Set<String> BLOCKS =
            Set.of("text", "image", "tool_use", "tool_result", "tool_reference", "thinking", "redacted_thinking");

    /** A client's line with another hash in every request; no prefix could be found in a cache behind it. */
    private static final String BILLING_HEADER = "x-anthropic-billing-header";

    private final ArrayNode messages = Json.array();

    private Conversation() {}

    /** Returns the messages: first the system's, wherever they stood, in one. */
    static ArrayNode read(JsonBody body) {
        body.require("messages");
        var given = body.objects("messages");
        var system = new StringBuilder();
        appendSystem(body, "system", system);
        var conversation = new Conversation();
        for (var message : given) {
            if (role(message).equals("system")) {
                appendSystem(message, "content", system);
            }
        }
        if (!system.isEmpty()) {
            conversation.messages.addObject().put("role", "system").put("content", system.toString());
        }
        given.forEach(conversation::add);
        return conversation.messages;
    }

    /** Some clients have roles of their own for what they add. */
    private static String role(JsonBody message) {
        message.require("role");
        String role = String.valueOf(message.text("role"));
        return switch (role) {
            case "user", "assistant", "system" -> role;
            case "ctx", "msg" -> "user";
            default ->
                throw ApiException.invalid("Input should be 'user', 'assistant' or 'system'", message.at("role"));
        };
    }

    private static void appendSystem(JsonBody holder, String key, StringBuilder system) {
        var content = holder.get(key);
        if (content != null && content.isTextual()) {
            system.append(content.textValue());
            return;
        }
        for (var block : blocks(holder, key)) {
            String text = orEmpty(block, "text");
            if (type(block).equals("text") && !text.startsWith(BILLING_HEADER)) {
                system.append(text);
            }
        }
    }

    private void add(JsonBody message) {
        String role = role(message);
        var content = message.require("content");
        if (role.equals("system")) {
            return;
        }
        var chat = Json.object().put("role", role);
        if (content.isTextual()) {
            messages.add(chat.set("content", content));
            return;
        }
        for (var block : blocks(message, "content")) {
            addBlock(block, role, chat);
        }
        // Results of tools have become messages of their own.
        if (role.equals("assistant") || chat.has("content")) {
            messages.add(chat);
        }
    }

    private static List<JsonBody> blocks(JsonBody holder, String key) {
        var content = holder.get(key);
        if (content != null && !content.isArray()) {
            throw ApiException.invalid("Input should be a valid string or list", holder.at(key));
        }
        var blocks = holder.objects(key);
        blocks.forEach(Conversation::type);
        return blocks;
    }

    private static String type(JsonBody block) {
        block.require("type");
        String type = String.valueOf(block.text("type"));
        if (!BLOCKS.contains(type)) {
            throw ApiException.invalid(
                    "Input should be 'text', 'image', 'tool_use', 'tool_result', 'tool_reference', 'thinking' or"
                            + " 'redacted_thinking'",
                    block.at("type"));
        }
        return type;
    }

    /** Earlier reasoning is not shown to the model again. */
    private void addBlock(JsonBody block, String role, ObjectNode chat) {
        switch (type(block)) {
            case "text" -> addText(orEmpty(block, "text"), chat);
            case "image" -> addImage(block, chat);
            case "tool_use" -> chat.withArray("tool_calls").add(toolCall(block));
            case "tool_result" -> addToolResult(block, role, chat);
            default -> {}
        }
    }

    private static void addText(String text, ObjectNode chat) {
        if (!text.isEmpty()) {
            chat.withArray("content").addObject().put("type", "text").put("text", text);
        }
    }

    private static void addImage(JsonBody block, ObjectNode chat) {
        var source = block.object("source");
        String url = "url".equals(source.text("type"))
                ? orEmpty(source, "url")
                : "data:" + Objects.requireNonNullElse(source.text("media_type"), "image/jpeg") + ";base64,"
                        + orEmpty(source, "data");
        var part = chat.withArray("content").addObject().put("type", "image_url");
        part.putObject("image_url").put("url", url);
    }

    private static ObjectNode toolCall(JsonBody block) {
        var call = Json.object().put("id", block.text("id")).put("type", "function");
        call.putObject("function")
                .put("name", orEmpty(block, "name"))
                .put("arguments", Json.write(block.object("input").node()));
        return call;
    }

    private void addToolResult(JsonBody block, String role, ObjectNode chat) {
        if (role.equals("assistant")) {
            addText("Tool result: " + resultText(block), chat);
            return;
        }
        messages.addObject()
                .put("role", "tool")
                .put("tool_call_id", orEmpty(block, "tool_use_id"))
                .put("content", resultText(block));
        if (!isText(block)) {
            var images = block.objects("content").stream()
                    .filter(each -> is(each, "image"))
                    .toList();
            if (!images.isEmpty()) {
                var message = messages.addObject().put("role", "user");
                images.forEach(image -> addImage(image, message));
            }
        }
    }

    private static String resultText(JsonBody block) {
        if (isText(block)) {
            return orEmpty(block, "content");
        }
        var texts = new ArrayList<String>();
        for (var item : block.objects("content")) {
            if (is(item, "text")) {
                texts.add(orEmpty(item, "text"));
            }
        }
        return String.join("\n", texts);
    }

    private static boolean isText(JsonBody block) {
        var content = block.get("content");
        return content != null && content.isTextual();
    }

    private static boolean is(JsonBody item, String type) {
        return type.equals(item.text("type"));
    }

    private static String orEmpty(JsonBody body, String key) {
        return Objects.requireNonNullElse(body.text(key), "");
    }
}
