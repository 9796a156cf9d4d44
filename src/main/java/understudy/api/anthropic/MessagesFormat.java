package understudy.api.anthropic;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.api.call.CallEvent;
import understudy.api.call.CallFormat;
import understudy.api.call.ChunkTemplate;
import understudy.api.call.Delta;
import understudy.api.call.Generation;
import understudy.api.http.ApiException;
import understudy.api.http.Json;
import understudy.api.model.ToolCall;
import understudy.api.openai.CallInfo;

/**
 * Format of messages (vLLM {@code messages_full_converter}, {@code message_stream_converter}): one content block, text
 * or the use of a tool. vLLM sends no {@code ping}.
 */
final class MessagesFormat implements CallFormat {
    private static final ChunkTemplate TEXT = delta("text_delta", "text");
    private static final ChunkTemplate ARGUMENTS = delta("input_json_delta", "partial_json");

    private final CallInfo call;
    private final boolean isNamedCall;
    private boolean isOpen;
    private boolean hasBlock;
    private int numChars;

    /**
     * Creates the format of a call.
     *
     * @param isNamedCall whether the client named the tool that is used, which then is no reason to stop
     */
    MessagesFormat(CallInfo call, boolean isNamedCall) {
        this.call = call;
        this.isNamedCall = isNamedCall;
    }

    private static ChunkTemplate delta(String type, String key) {
        var event = Json.object().put("type", "content_block_delta");
        event.putObject("delta").put("type", type).put(key, ChunkTemplate.TEXT);
        return new ChunkTemplate(CallFormat.namedEvent(event.put("index", 0)));
    }

    /** Fields that are null are left out, as vLLM does. */
    @Override
    public ObjectNode whole(List<CallEvent.Piece> choices) {
        var delta = choices.get(0).delta();
        var generation = choices.get(0).generation();
        var message = open();
        addContent(generation, delta, message.putArray("content"));
        message.put("model", call.model());
        var reason = stopReason(generation, delta);
        if (reason != null) {
            message.put("stop_reason", reason);
        }
        var sequence = stopSequence(delta);
        if (sequence != null) {
            message.put("stop_sequence", sequence);
        }
        message.set("usage", usage(generation, delta));
        return message;
    }

    private ObjectNode open() {
        return Json.object().put("id", call.id()).put("type", "message").put("role", "assistant");
    }

    private void addContent(Generation generation, Delta delta, ArrayNode content) {
        var tool = toolCall(generation);
        if (tool != null
                && delta.text().length()
                        >= tool.head().length() + tool.arguments().length()) {
            content.add(toolUse(tool, delta, Json.read(tool.arguments())));
        } else if (!delta.text().isEmpty()) {
            // A call that was cut off is no call for vLLM's parsers.
            content.addObject().put("type", "text").put("text", delta.text());
        }
    }

    private static @Nullable ToolCall toolCall(Generation generation) {
        var calls = generation.spec().answer().toolCalls();
        return calls.isEmpty() ? null : calls.get(0);
    }

    private ObjectNode toolUse(ToolCall tool, Delta delta, JsonNode input) {
        var block = Json.object().put("type", "tool_use").put("id", call.toolCallId(delta.choice()));
        block.put("name", tool.name()).set("input", input);
        return block;
    }

    @Override
    public String events(Generation generation, Delta delta) {
        var events = new StringBuilder(isOpen ? "" : start(generation));
        isOpen = true;
        var tool = toolCall(generation);
        events.append(tool == null ? text(delta) : toolEvents(tool, delta));
        if (delta.ending() != null) {
            events.append(stop(generation, delta));
        }
        return events.toString();
    }

    private String start(Generation generation) {
        var event = Json.object().put("type", "message_start");
        var message = event.set("message", open()).withObject("message");
        message.putArray("content");
        message.put("model", call.model()).putNull("stop_reason").putNull("stop_sequence");
        // The number of cached tokens is not known yet.
        message.putObject("usage")
                .put("input_tokens", generation.spec().prompt().length())
                .put("output_tokens", 0);
        return CallFormat.namedEvent(event);
    }

    private String text(Delta delta) {
        if (delta.text().isEmpty()) {
            return "";
        }
        String start =
                hasBlock ? "" : blockStart(Json.object().put("type", "text").put("text", ""));
        return start + TEXT.with(delta.text());
    }

    private String blockStart(ObjectNode block) {
        hasBlock = true;
        var event = Json.object().put("type", "content_block_start");
        event.set("content_block", block);
        return CallFormat.namedEvent(event.put("index", 0));
    }

    /** The name comes once it is complete, then the arguments as they come. */
    private String toolEvents(ToolCall tool, Delta delta) {
        int from = numChars;
        numChars += delta.text().length();
        boolean starts = !hasBlock && numChars >= tool.head().length();
        String start = starts ? blockStart(toolUse(tool, delta, Json.object())) : "";
        String arguments = tool.argumentsBetween(from, numChars);
        return arguments.isEmpty() ? start : start + ARGUMENTS.with(arguments);
    }

    private String stop(Generation generation, Delta delta) {
        var events = new StringBuilder();
        if (hasBlock) {
            events.append(CallFormat.namedEvent(
                    Json.object().put("type", "content_block_stop").put("index", 0)));
        }
        var event = Json.object().put("type", "message_delta");
        event.putObject("delta")
                .put("stop_reason", stopReason(generation, delta))
                .put("stop_sequence", stopSequence(delta));
        event.set("usage", usage(generation, delta));
        return events.append(CallFormat.namedEvent(event)).toString();
    }

    private @Nullable String stopReason(Generation generation, Delta delta) {
        var ending = delta.ending();
        String reason = ending == null ? "stop" : ending.reason();
        return switch (reason) {
            case "length" -> "max_tokens";
            case "stop" ->
                toolCall(generation) != null && !isNamedCall
                        ? "tool_use"
                        : stopSequence(delta) == null ? "end_turn" : "stop_sequence";
            default -> null;
        };
    }

    private static @Nullable String stopSequence(Delta delta) {
        var ending = delta.ending();
        return ending != null && ending.stopReason() instanceof String stop ? stop : null;
    }

    /** Tokens found in the cache are not counted twice; that others were written to it is not told. */
    private static ObjectNode usage(Generation generation, Delta delta) {
        var ending = delta.ending();
        int numCached = ending == null ? 0 : ending.numCachedTokens();
        return Json.object()
                .put("input_tokens", generation.spec().prompt().length() - numCached)
                .put("output_tokens", delta.toToken())
                .put("cache_creation_input_tokens", 0)
                .put("cache_read_input_tokens", numCached);
    }

    @Override
    public String end() {
        return CallFormat.namedEvent(Json.object().put("type", "message_stop"));
    }

    @Override
    public String failure(ApiException failure) {
        return CallFormat.namedEvent(MessageErrors.body(failure));
    }
}
