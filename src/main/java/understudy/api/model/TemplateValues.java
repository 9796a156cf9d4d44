package understudy.api.model;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import understudy.api.http.ApiException;
import understudy.api.http.Json;
import understudy.jinja.python.None;

/**
 * Values that a template reads of a request, as vLLM hands them over ({@code parse_chat_messages}): contents as text or
 * as parts, arguments of tool calls as objects, and tools with all the fields that vLLM's schema has.
 */
final class TemplateValues {
    private static final List<String> FUNCTION = List.of("name", "description", "parameters");

    private final boolean hasParts;
    private long numChars;

    TemplateValues(boolean hasParts) {
        this.hasParts = hasParts;
    }

    /** Returns the length of all texts that were handed over so far. */
    long numChars() {
        return numChars;
    }

    Map<String, Object> message(ChatMessage message) {
        var source = message.source();
        var values = new LinkedHashMap<String, Object>();
        values.put("role", message.role());
        values.put("content", content(message));
        if (message.role().equals("assistant")) {
            if (!message.toolCalls().isEmpty()) {
                values.put(
                        "tool_calls",
                        message.toolCalls().stream().map(this::toolCall).toList());
            }
            if (source.hasNonNull("reasoning")) {
                values.put("reasoning", value(source.get("reasoning")));
                values.put("reasoning_content", value(source.get("reasoning")));
            }
        } else if (message.role().equals("tool") && source.has("tool_call_id")) {
            values.put("tool_call_id", value(source.get("tool_call_id")));
        } else if (message.role().equals("developer")) {
            values.put("tools", value(source.path("tools")));
        }
        if (source.path("name").isTextual()) {
            values.put("name", value(source.get("name")));
        }
        return values;
    }

    private Object content(ChatMessage message) {
        numChars += message.content().length();
        // Few templates expect parts of a tool, and vLLM hands none over.
        if (!hasParts || message.role().equals("tool")) {
            return message.content();
        }
        var parts = new ArrayList<Object>();
        var given = message.source().path("content");
        if (given.isArray()) {
            given.forEach(part -> parts.add(part(ChatMessage.text(Json.array().add(part), "messages"))));
        } else if (given.isTextual() || !message.content().isEmpty()) {
            parts.add(part(message.content()));
        }
        return parts;
    }

    private static Map<String, Object> part(String text) {
        var part = new LinkedHashMap<String, Object>();
        part.put("type", "text");
        part.put("text", text);
        return part;
    }

    /** The order of fields is that of vLLM's schema, which templates show that write calls as JSON. */
    private Map<String, Object> toolCall(ToolCall call) {
        var function = new LinkedHashMap<String, Object>();
        function.put("arguments", arguments(call));
        function.put("name", call.name());
        var values = new LinkedHashMap<String, Object>();
        values.put("id", call.id());
        values.put("function", function);
        values.put("type", "function");
        return values;
    }

    private Object arguments(ToolCall call) {
        if (call.arguments().isEmpty()) {
            return Map.of();
        }
        try {
            return value(Json.read(call.arguments()));
        } catch (IllegalArgumentException e) {
            throw ApiException.badRequest("The arguments of a tool call are no JSON: " + e.getMessage(), "messages");
        }
    }

    /** Returns a tool as vLLM's schema writes it: its own fields first and in its order, also those that are not given. */
    Map<String, Object> tool(JsonNode tool) {
        var values = new LinkedHashMap<String, Object>();
        values.put("type", tool.path("type").asText("function"));
        var function = new LinkedHashMap<String, Object>();
        FUNCTION.forEach(key -> function.put(key, value(tool.path("function").path(key))));
        tool.path("function").properties().forEach(each -> function.putIfAbsent(each.getKey(), value(each.getValue())));
        values.put("function", function);
        tool.properties().forEach(each -> values.putIfAbsent(each.getKey(), value(each.getValue())));
        return values;
    }

    Object value(JsonNode node) {
        if (node.isTextual()) {
            numChars += node.textValue().length();
            return node.textValue();
        }
        if (node.isArray()) {
            var list = new ArrayList<Object>(node.size());
            node.forEach(each -> list.add(value(each)));
            return list;
        }
        if (node.isObject()) {
            var map = new LinkedHashMap<Object, Object>();
            node.properties().forEach(each -> map.put(each.getKey(), value(each.getValue())));
            return map;
        }
        if (node.isBoolean()) {
            return node.booleanValue();
        }
        if (node.isNumber()) {
            return node.isBigInteger()
                    ? node.bigIntegerValue()
                    : node.isIntegralNumber() ? (Object) node.longValue() : node.doubleValue();
        }
        return None.NONE;
    }
}
