package understudy.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/** Responses: one output item, a message or a call of a function. */
final class ResponsesFormat implements CallFormat {
    private final CallInfo call;
    private final JsonBody request;
    private final String itemId;
    private final StringBuilder text = new StringBuilder();
    private final StreamUsage usage;
    private final ResponseItems items;
    private int sequence;

    /**
     * Creates the format of one call.
     *
     * @param items remembers what is answered, unless the request has {@code store: false}
     */
    ResponsesFormat(CallInfo call, JsonBody request, ResponseItems items) {
        this.items = items;
        this.call = call;
        this.request = request;
        itemId = call.id().replaceFirst("resp", "msg");
        usage = new StreamUsage(call);
    }

    @Override
    public ObjectNode whole(List<Whole> choices) {
        var choice = choices.get(0);
        return response(choice.generation(), choice.delta(), choice.delta().text(), CallFormat.usage(choices));
    }

    private ObjectNode response(Generation generation, Delta delta, String said, Usage counts) {
        var ending = delta.ending();
        boolean isCutOff = ending != null && !ending.reason().equals("stop");
        String status = ending == null ? "in_progress" : isCutOff ? "incomplete" : "completed";
        var response = Json.object().put("id", call.id()).put("created_at", call.created());
        if (isCutOff) {
            response.putObject("incomplete_details").put("reason", "max_output_tokens");
        } else {
            response.putNull("incomplete_details");
        }
        response.put("instructions", request.text("instructions"));
        response.set("metadata", request.object("metadata").node());
        response.put("model", call.model()).put("object", "response");
        var output = response.putArray("output");
        if (ending != null) {
            output.add(item(generation, said, isCutOff ? "incomplete" : "completed"));
            remember(generation, said);
        }
        response.put("parallel_tool_calls", request.bool("parallel_tool_calls", true));
        copy(response, "temperature", Json.object().numberNode(1.0));
        copy(response, "tool_choice", Json.object().textNode("auto"));
        copy(response, "tools", Json.array());
        copy(response, "top_p", Json.object().numberNode(1.0));
        response.put("background", false);
        copy(response, "max_output_tokens", Json.object().nullNode());
        response.putNull("previous_response_id")
                .putNull("reasoning")
                .put("service_tier", "auto")
                .put("status", status);
        response.putObject("text").putObject("format").put("type", "text");
        response.put("truncation", "disabled");
        response.set("usage", ending == null ? response.nullNode() : usage(counts));
        return response.putNull("user").putNull("error");
    }

    private void remember(Generation generation, String said) {
        if (!request.bool("store", true)) {
            return;
        }
        var calls = generation.spec().answer().toolCalls();
        if (calls.isEmpty()) {
            items.put(itemId, new ChatMessage("assistant", said, List.of()));
        } else {
            items.put(callItemId(), new ChatMessage("assistant", "", calls.subList(0, 1)));
        }
    }

    private String callItemId() {
        return call.id().replaceFirst("resp", "fc");
    }

    private void copy(ObjectNode response, String key, JsonNode otherwise) {
        var given = request.get(key);
        response.set(key, given == null ? otherwise : given);
    }

    private static ObjectNode usage(Usage counts) {
        var usage = Json.object().put("input_tokens", counts.numPromptTokens());
        usage.putObject("input_tokens_details").put("cached_tokens", counts.numCachedTokens());
        usage.put("output_tokens", counts.numCompletionTokens());
        usage.putObject("output_tokens_details").put("reasoning_tokens", 0);
        return usage.put("total_tokens", counts.numPromptTokens() + counts.numCompletionTokens());
    }

    private ObjectNode item(Generation generation, String said, String status) {
        var calls = generation.spec().answer().toolCalls();
        if (!calls.isEmpty()) {
            return functionCall(calls.get(0), status, calls.get(0).arguments());
        }
        var item = message(status);
        item.withArray("content").add(part(said));
        return item;
    }

    private ObjectNode functionCall(ToolCall function, String status, String arguments) {
        return Json.object()
                .put("arguments", arguments)
                .put("call_id", call.id().replaceFirst("resp", "call"))
                .put("name", function.name())
                .put("type", "function_call")
                .put("id", callItemId())
                .put("status", status);
    }

    private ObjectNode message(String status) {
        var item = Json.object().put("id", itemId);
        item.putArray("content");
        return item.put("role", "assistant").put("status", status).put("type", "message");
    }

    private static ObjectNode part(String said) {
        var part = Json.object();
        part.putArray("annotations");
        part.put("text", said).put("type", "output_text");
        part.putNull("logprobs");
        return part;
    }

    @Override
    public String events(Generation generation, Delta delta) {
        boolean isFirst = usage.add(generation, delta);
        boolean isCalling = !generation.spec().answer().toolCalls().isEmpty();
        text.append(delta.text());
        var events = new StringBuilder();
        if (isFirst) {
            var begun = response(generation, new Delta(0, 0, 0, "", null), "", usage.total());
            events.append(responseEvent("response.created", begun));
            events.append(responseEvent("response.in_progress", begun));
            events.append(isCalling ? callAdded(generation) : messageAdded());
        }
        if (!isCalling && !delta.text().isEmpty()) {
            var said = partEvent("response.output_text.delta").put("delta", delta.text());
            said.putArray("logprobs");
            events.append(event(said));
        }
        if (delta.ending() != null) {
            events.append(isCalling ? callDone(generation) : messageDone());
            var done = response(generation, delta, text.toString(), usage.total());
            boolean isCutOff = done.get("status").asText().equals("incomplete");
            events.append(responseEvent(isCutOff ? "response.incomplete" : "response.completed", done));
        }
        return events.toString();
    }

    private String messageAdded() {
        var added = output("response.output_item.added");
        added.set("item", message("in_progress"));
        var content = partEvent("response.content_part.added", "");
        return event(added) + event(content);
    }

    private String messageDone() {
        var said = partEvent("response.output_text.done").put("text", text.toString());
        said.putArray("logprobs");
        var content = partEvent("response.content_part.done", text.toString());
        var done = output("response.output_item.done");
        var item = message("completed");
        item.withArray("content").add(part(text.toString()));
        done.set("item", item);
        return event(said) + event(content) + event(done);
    }

    private String callAdded(Generation generation) {
        var added = output("response.output_item.added");
        added.set("item", functionCall(generation.spec().answer().toolCalls().get(0), "in_progress", ""));
        return event(added);
    }

    private String callDone(Generation generation) {
        var function = generation.spec().answer().toolCalls().get(0);
        String id = callItemId();
        var delta = output("response.function_call_arguments.delta")
                .put("item_id", id)
                .put("delta", function.arguments());
        var arguments = output("response.function_call_arguments.done")
                .put("item_id", id)
                .put("name", function.name())
                .put("arguments", function.arguments());
        var done = output("response.output_item.done");
        done.set("item", functionCall(function, "completed", function.arguments()));
        return event(delta) + event(arguments) + event(done);
    }

    private ObjectNode partEvent(String type, String said) {
        var event = partEvent(type);
        event.set("part", part(said));
        return event;
    }

    private ObjectNode partEvent(String type) {
        return output(type).put("item_id", itemId).put("content_index", 0);
    }

    private static ObjectNode output(String type) {
        return Json.object().put("type", type).put("output_index", 0);
    }

    private String responseEvent(String type, ObjectNode response) {
        var event = Json.object().put("type", type);
        event.set("response", response);
        return event(event);
    }

    /** These events carry their type and a number. */
    private String event(ObjectNode data) {
        data.put("sequence_number", sequence++);
        return "event: " + data.get("type").asText() + "\n" + CallFormat.event(data);
    }

    @Override
    public String end() {
        return "";
    }

    @Override
    public String failure(ApiException failure) {
        var error = Json.object().put("type", "error").put("code", String.valueOf(failure.status()));
        return event(error.put("message", failure.message()).putNull("param"));
    }
}
