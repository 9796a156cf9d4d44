package understudy.api.anthropic;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import understudy.api.http.ApiException;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;

/**
 * Converter of requests into chat completions (vLLM {@code _convert_anthropic_to_openai_request}). Refuses what vLLM's
 * schema refuses ({@code AnthropicMessagesRequest}).
 */
final class MessagesRequest {
    private static final List<String> SAMPLING = List.of("stream", "temperature", "top_p", "top_k");

    private MessagesRequest() {}

    /** Returns the chat completion that a message is asked for with. */
    static JsonBody create(JsonBody body) {
        var chat = conversation(body);
        body.require("max_tokens");
        int maxTokens = body.integer("max_tokens", 0);
        if (maxTokens <= 0) {
            throw ApiException.invalid("Value error, max_tokens must be positive", body.at("max_tokens"));
        }
        chat.put("max_tokens", maxTokens);
        for (String key : SAMPLING) {
            copy(body, key, chat);
        }
        var stops = chat.putArray("stop");
        body.texts("stop_sequences").forEach(stops::add);
        // The user, for everything that goes by tenants; vLLM ignores it.
        chat.put("user", body.object("metadata").text("user_id"));
        addFormat(body.object("output_config").object("format"), chat);
        return new JsonBody(chat);
    }

    /** Returns the chat completion whose prompt is to be counted. */
    static JsonBody countTokens(JsonBody body) {
        return new JsonBody(conversation(body));
    }

    private static ObjectNode conversation(JsonBody body) {
        body.require("model");
        if ("".equals(body.text("model"))) {
            throw ApiException.invalid("Value error, Model is required", body.at("model"));
        }
        var chat = Json.object().put("model", body.text("model"));
        chat.set("messages", Conversation.read(body));
        addTools(body, chat);
        return chat;
    }

    private static void copy(JsonBody from, String key, ObjectNode to) {
        var value = from.get(key);
        if (value != null) {
            to.set(key, value);
        }
    }

    private static void addFormat(JsonBody format, ObjectNode chat) {
        if (format.get("schema") != null) {
            var wanted = chat.putObject("response_format").put("type", "json_schema");
            wanted.putObject("json_schema")
                    .put("name", "json_schema")
                    .set("schema", format.object("schema").node());
        }
    }

    /** A choice without tools has no effect, unless it insists on one. */
    private static void addTools(JsonBody body, ObjectNode chat) {
        var choice = body.get("tool_choice") == null ? null : choice(body.object("tool_choice"));
        var tools = body.objects("tools");
        for (var tool : tools) {
            chat.withArray("tools").add(tool(tool));
        }
        boolean insists = choice != null && (choice.isObject() || "required".equals(choice.textValue()));
        if (choice != null && (insists || !tools.isEmpty())) {
            chat.set("tool_choice", choice);
        }
    }

    private static JsonNode choice(JsonBody choice) {
        choice.require("type");
        String type = String.valueOf(choice.text("type"));
        var nodes = Json.object();
        return switch (type) {
            case "auto", "none" -> nodes.textNode(type);
            case "any" -> nodes.textNode("required");
            case "tool" -> named(choice);
            default -> throw ApiException.invalid("Input should be 'auto', 'any', 'tool' or 'none'", choice.at("type"));
        };
    }

    private static ObjectNode named(JsonBody choice) {
        String name = choice.text("name");
        if (name == null || name.isEmpty()) {
            throw ApiException.invalid(
                    "Value error, tool_choice.name is required when type is 'tool'", "body.tool_choice");
        }
        var named = Json.object().put("type", "function");
        named.putObject("function").put("name", name);
        return named;
    }

    private static ObjectNode tool(JsonBody tool) {
        tool.require("name");
        tool.require("input_schema");
        var schema = tool.object("input_schema").node();
        var parameters = schema.has("type") ? schema : schema.deepCopy().put("type", "object");
        var chat = Json.object().put("type", "function");
        chat.putObject("function")
                .put("name", tool.text("name"))
                .put("description", tool.text("description"))
                .set("parameters", parameters);
        return chat;
    }
}
