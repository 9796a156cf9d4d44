package understudy.api.openai;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.api.call.Delta;
import understudy.api.call.Generation;
import understudy.api.http.Json;
import understudy.api.model.ChatMessage;
import understudy.api.model.ToolCall;

/** The one output item of a response: a message, or a call of a function. */
record ResponseOutput(CallInfo call, ResponseTools tools) {
    /** Returns the function that an answer calls, or null if it is a message. */
    static @Nullable ToolCall function(Generation generation) {
        var calls = generation.spec().answer().toolCalls();
        return calls.isEmpty() ? null : calls.get(0);
    }

    String id(Generation generation) {
        return call.id().replaceFirst("resp", function(generation) == null ? "msg" : "fc");
    }

    /** Returns the item; {@code said} is all of the answer's text so far. */
    ObjectNode item(Generation generation, Delta delta, String said, String status) {
        var function = function(generation);
        if (function != null) {
            String arguments = function.argumentsBetween(0, said.length());
            return functionCall(generation, function, status, arguments);
        }
        var item = message(generation, status);
        item.withArray("content").add(part(said, logprobs(generation, 0, delta.toToken())));
        return item;
    }

    ObjectNode functionCall(Generation generation, ToolCall function, String status, String arguments) {
        return Json.object()
                .put("arguments", arguments)
                .put("call_id", call.id().replaceFirst("resp", "call"))
                .put("name", tools.nameOf(function.name()))
                .put("type", "function_call")
                .put("id", id(generation))
                .put("namespace", tools.namespaceOf(function.name()))
                .put("status", status);
    }

    ObjectNode message(Generation generation, String status) {
        var item = Json.object().put("id", id(generation));
        item.putArray("content");
        return item.put("role", "assistant").put("status", status).put("type", "message");
    }

    static ObjectNode part(String said, JsonNode logprobs) {
        var part = Json.object();
        part.putArray("annotations");
        part.put("text", said).put("type", "output_text");
        part.set("logprobs", logprobs);
        return part;
    }

    /** Returns the log probabilities of some tokens as a part of a message has them, null if they are not wanted. */
    JsonNode logprobs(Generation generation, int from, int to) {
        return call.hasLogprobs()
                ? call.logprobs().ofChat(generation, from, to).path("content")
                : Json.object().nullNode();
    }

    /** Returns the same as events have them: without bytes, and empty if they are not wanted. */
    ArrayNode eventLogprobs(Generation generation, int from, int to) {
        var entries = Json.array();
        for (var each : logprobs(generation, from, to)) {
            var entry = entries.addObject();
            copy(each, entry);
            var top = entry.putArray("top_logprobs");
            each.path("top_logprobs").forEach(alternative -> copy(alternative, top.addObject()));
        }
        return entries;
    }

    private static void copy(JsonNode from, ObjectNode to) {
        for (String key : List.of("token", "logprob")) {
            to.set(key, from.get(key));
        }
    }

    /** Returns the message that a client refers to by the item's id when it goes on. */
    static ChatMessage remembered(Generation generation, String said) {
        var function = function(generation);
        if (function == null) {
            return new ChatMessage("assistant", said, List.of());
        }
        String arguments = function.argumentsBetween(0, said.length());
        return new ChatMessage("assistant", "", List.of(new ToolCall(function.name(), arguments)));
    }
}
