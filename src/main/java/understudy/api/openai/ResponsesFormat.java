package understudy.api.openai;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import understudy.api.call.CallEvent;
import understudy.api.call.CallFormat;
import understudy.api.call.Delta;
import understudy.api.call.Generation;
import understudy.api.call.Usage;
import understudy.api.http.ApiException;
import understudy.api.http.Json;
import understudy.api.model.ToolCall;

/** Format of responses: one output item, a message or a call of a function. */
final class ResponsesFormat implements CallFormat {
    private final CallInfo call;
    private final ResponseEcho echo;
    private final ResponseOutput output;
    private final ResponseMemory memory;
    private final StringBuilder text = new StringBuilder();
    private final StreamUsage usage;
    private int sequence;

    /**
     * Creates the format of one call.
     *
     * @param memory record of the answers
     */
    ResponsesFormat(CallInfo call, ResponseEcho echo, ResponseTools tools, ResponseMemory memory) {
        this.call = call;
        this.echo = echo;
        this.memory = memory;
        output = new ResponseOutput(call, tools);
        usage = new StreamUsage(call);
    }

    @Override
    public ObjectNode whole(List<CallEvent.Piece> choices) {
        var choice = choices.get(0);
        return ended(choice.generation(), choice.delta(), choice.delta().text(), Usage.of(choices));
    }

    private ObjectNode begun(Generation generation) {
        var response = echo.open();
        response.put("id", call.id()).put("created_at", call.created()).put("model", call.model());
        // As many as fit, if the request does not say how many.
        response.put("max_output_tokens", generation.spec().maxTokens());
        return response.put("status", "in_progress");
    }

    private ObjectNode ended(Generation generation, Delta delta, String said, Usage counts) {
        var response = begun(generation);
        boolean isCutOff = isCutOff(delta);
        String status = isCutOff ? "incomplete" : "completed";
        if (isCutOff) {
            response.putObject("incomplete_details").put("reason", "max_output_tokens");
        }
        response.putArray("output").add(output.item(generation, delta, said, status));
        memory.answered(call.id(), output.id(generation), ResponseOutput.remembered(generation, said));
        if (generation.kvTransferParams() != null) {
            response.set("kv_transfer_params", generation.kvTransferParams());
        }
        response.set("usage", usage(counts));
        return response.put("status", status);
    }

    private static boolean isCutOff(Delta delta) {
        var ending = delta.ending();
        return ending != null && !ending.reason().equals("stop");
    }

    /**
     * Returns the usage without vLLM's lists of tokens per turn: only calls of tools that vLLM makes itself have turns, and
     * {@code @openai/agents} refuses streams whose details hold anything but numbers.
     */
    private static ObjectNode usage(Usage counts) {
        var usage = Json.object().put("input_tokens", counts.numPromptTokens());
        usage.putObject("input_tokens_details").put("cached_tokens", counts.numCachedTokens());
        usage.put("output_tokens", counts.numCompletionTokens());
        usage.putObject("output_tokens_details").put("reasoning_tokens", 0).put("tool_output_tokens", 0);
        return usage.put("total_tokens", counts.numPromptTokens() + counts.numCompletionTokens());
    }

    @Override
    public String events(Generation generation, Delta delta) {
        boolean isFirst = usage.add(generation, delta);
        var function = ResponseOutput.function(generation);
        var events = new StringBuilder();
        if (isFirst) {
            events.append(responseEvent("response.created", begun(generation)));
            events.append(responseEvent("response.in_progress", begun(generation)));
        }
        int from = text.length();
        text.append(delta.text());
        if (function == null) {
            events.append(isFirst ? messageAdded(generation) : "").append(messageDelta(generation, delta));
        } else {
            events.append(callDelta(generation, function, from));
        }
        if (delta.ending() != null) {
            events.append(function == null ? messageDone(generation, delta) : callDone(generation, delta, function));
            var done = ended(generation, delta, text.toString(), usage.total());
            events.append(responseEvent(isCutOff(delta) ? "response.incomplete" : "response.completed", done));
        }
        return events.toString();
    }

    private String messageAdded(Generation generation) {
        var content = partEvent("response.content_part.added", generation);
        content.set("part", ResponseOutput.part("", Json.array()));
        return itemEvent("added", output.message(generation, "in_progress")) + event(content);
    }

    private String messageDelta(Generation generation, Delta delta) {
        if (delta.text().isEmpty()) {
            return "";
        }
        var said = partEvent("response.output_text.delta", generation).put("delta", delta.text());
        said.set("logprobs", output.eventLogprobs(generation, delta.fromToken(), delta.toToken()));
        return event(said);
    }

    private String messageDone(Generation generation, Delta delta) {
        var said = partEvent("response.output_text.done", generation).put("text", text.toString());
        said.set("logprobs", output.eventLogprobs(generation, 0, delta.toToken()));
        var content = partEvent("response.content_part.done", generation);
        var item = output.item(generation, delta, text.toString(), "completed");
        content.set("part", item.at("/content/0"));
        return event(said) + event(content) + itemEvent("done", item);
    }

    /** The name comes once it is complete, then the arguments as they come. */
    private String callDelta(Generation generation, ToolCall function, int from) {
        var events = new StringBuilder();
        int nameAt = function.head().length();
        if (from < nameAt && text.length() >= nameAt) {
            events.append(callAdded(generation, function));
        }
        String arguments = function.argumentsBetween(from, text.length());
        if (!arguments.isEmpty()) {
            events.append(event(argumentsEvent("delta", generation).put("delta", arguments)));
        }
        return events.toString();
    }

    private String callAdded(Generation generation, ToolCall function) {
        return itemEvent("added", output.functionCall(generation, function, "in_progress", ""));
    }

    private String callDone(Generation generation, Delta delta, ToolCall function) {
        boolean isAdded = text.length() >= function.head().length();
        var item = output.item(generation, delta, text.toString(), "completed");
        var done = argumentsEvent("done", generation);
        done.set("name", item.get("name"));
        done.set("arguments", item.get("arguments"));
        return (isAdded ? "" : callAdded(generation, function)) + event(done) + itemEvent("done", item);
    }

    private ObjectNode argumentsEvent(String what, Generation generation) {
        return outputEvent("response.function_call_arguments." + what).put("item_id", output.id(generation));
    }

    private String itemEvent(String what, ObjectNode item) {
        var event = outputEvent("response.output_item." + what);
        event.set("item", item);
        return event(event);
    }

    private ObjectNode partEvent(String type, Generation generation) {
        return outputEvent(type).put("item_id", output.id(generation)).put("content_index", 0);
    }

    private static ObjectNode outputEvent(String type) {
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
        return CallFormat.namedEvent(data);
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
