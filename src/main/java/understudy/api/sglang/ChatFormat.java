package understudy.api.sglang;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import it.unimi.dsi.fastutil.HashCommon;
import it.unimi.dsi.fastutil.ints.Int2ObjectOpenHashMap;
import java.util.List;
import understudy.api.call.CallEvent;
import understudy.api.call.CallFormat;
import understudy.api.call.ChunkTemplate;
import understudy.api.call.Delta;
import understudy.api.call.Generation;
import understudy.api.call.Usage;
import understudy.api.http.ApiException;
import understudy.api.http.Json;
import understudy.api.openai.StreamUsage;
import understudy.api.openai.ToolCallStream;

/**
 * Format of chat completions ({@code entrypoints/openai/serving_chat.py}, and {@code sse_utils.py} for the chunks of a text).
 * The ends of all answers come behind the last text.
 */
final class ChatFormat implements CallFormat {
    private static final String CHUNK = "chat.completion.chunk";
    private static final String REASONING = "reasoning_content";
    private static final String TOOL_CALLS = "tool_calls";

    private final AnswerFields fields;
    private final StreamUsage usage;
    private final ToolCallStream toolCalls = new ToolCallStream(this::toolCallId);
    private final Int2ObjectOpenHashMap<ChunkTemplate> templates = new Int2ObjectOpenHashMap<>();
    private final StringBuilder ends = new StringBuilder();

    ChatFormat(AnswerFields fields) {
        this.fields = fields;
        usage = new StreamUsage(fields.call());
    }

    private String toolCallId(int choice) {
        long hash = HashCommon.murmurHash3((long) fields.call().id().hashCode() * 31 + choice);
        return String.format("call_%016x%08x", hash, (int) HashCommon.murmurHash3(hash));
    }

    @Override
    public JsonNode whole(List<CallEvent.Piece> choices) {
        var body = fields.call().open("chat.completion");
        var list = body.putArray("choices");
        for (var each : choices) {
            list.add(choice(each.generation(), each.delta()));
        }
        body.set("usage", fields.usage(Usage.of(choices)));
        return AnswerFields.withMetadata(body);
    }

    private ObjectNode choice(Generation generation, Delta delta) {
        var answer = generation.spec().answer();
        boolean isCalling = !answer.toolCalls().isEmpty();
        var choice = Json.object().put("index", delta.choice());
        var message = choice.putObject("message")
                .put("role", "assistant")
                .put("content", isCalling ? "" : delta.text())
                .putNull(REASONING);
        if (isCalling) {
            message.putArray(TOOL_CALLS)
                    .add(toolCall((ObjectNode) toolCalls.whole(answer, delta).get(0)));
        } else {
            message.putNull(TOOL_CALLS);
        }
        choice.set("logprobs", logprobs(generation, delta));
        addEnding(choice, generation, delta);
        if (fields.asked().returnsPromptIds()) {
            choice.set("prompt_token_ids", AnswerFields.ids(generation.spec().prompt()));
        }
        return choice;
    }

    private JsonNode logprobs(Generation generation, Delta delta) {
        var call = fields.call();
        return call.hasLogprobs()
                ? call.logprobs().ofChat(generation, delta.fromToken(), delta.toToken())
                : Json.object().nullNode();
    }

    /** A call is the reason of a natural end, and nothing matched then. */
    private static void addEnding(ObjectNode choice, Generation generation, Delta delta) {
        var ending = delta.ending();
        String reason = ending == null ? "" : ending.reason();
        boolean isCall = !generation.spec().answer().toolCalls().isEmpty() && reason.equals("stop");
        AnswerFields.addEnding(choice, isCall ? TOOL_CALLS : reason, generation, delta);
        if (isCall) {
            choice.putNull("matched_stop");
        }
    }

    /** Returns a call as {@code ToolCall} of {@code protocol.py}, of which parts may be null. */
    private static ObjectNode toolCall(ObjectNode part) {
        var call = Json.object()
                .put("id", part.path("id").textValue())
                .put("index", 0)
                .put("type", "function");
        var function = part.path("function");
        call.putObject("function")
                .put("name", function.path("name").textValue())
                .put("arguments", function.path("arguments").textValue());
        return call;
    }

    @Override
    public String events(Generation generation, Delta delta) {
        boolean isFirst = usage.add(generation, delta);
        boolean isCalling = !generation.spec().answer().toolCalls().isEmpty();
        if (!isFirst && !isCalling && fields.isPlain(delta)) {
            return delta.text().isEmpty()
                    ? ""
                    : template(generation, delta.choice()).with(delta.text());
        }
        var events = new StringBuilder();
        if (isFirst) {
            var opening =
                    Json.object().putNull(REASONING).put("role", "assistant").put("content", "");
            events.append(CallFormat.event(bare(delta.choice(), opening)));
        }
        if (isCalling) {
            addCalls(events, generation, delta);
        } else if (!delta.text().isEmpty()) {
            events.append(CallFormat.event(text(generation, delta)));
        }
        if (delta.ending() != null) {
            var end = open(delta.choice(), Json.object().putNull(REASONING));
            var choice = (ObjectNode) end.at("/choices/0");
            choice.putNull("logprobs");
            addEnding(choice, generation, delta);
            ends.append(CallFormat.event(end));
        }
        return events.toString();
    }

    private ChunkTemplate template(Generation generation, int choice) {
        return templates.computeIfAbsent(choice, index -> {
            var marked = new Delta(index, 0, 0, ChunkTemplate.TEXT, null);
            return new ChunkTemplate(CallFormat.event(text(generation, marked)));
        });
    }

    private ObjectNode text(Generation generation, Delta delta) {
        var chunk = bare(delta.choice(), Json.object().putNull(REASONING).put("content", delta.text()));
        ((ObjectNode) chunk.at("/choices/0")).set("logprobs", logprobs(generation, delta));
        if (fields.asked().hasRunningUsage()) {
            chunk.set("usage", fields.runningUsage(generation, delta));
        }
        return chunk;
    }

    private void addCalls(StringBuilder events, Generation generation, Delta delta) {
        for (var part : toolCalls.next(generation.spec().answer(), delta)) {
            if (part.has(TOOL_CALLS)) {
                var content = Json.object().putNull("role").putNull("content").putNull(REASONING);
                content.putArray(TOOL_CALLS)
                        .add(toolCall((ObjectNode) part.get(TOOL_CALLS).get(0)));
                var chunk = bare(delta.choice(), content);
                chunk.set(
                        "usage",
                        fields.asked().hasRunningUsage() ? fields.runningUsage(generation, delta) : chunk.nullNode());
                events.append(CallFormat.event(chunk));
            }
        }
    }

    private ObjectNode bare(int index, ObjectNode delta) {
        var chunk = open(index, delta);
        ((ObjectNode) chunk.at("/choices/0"))
                .putNull("logprobs")
                .putNull("finish_reason")
                .putNull("matched_stop");
        return chunk;
    }

    private ObjectNode open(int index, ObjectNode delta) {
        var chunk = fields.call().open(CHUNK);
        chunk.putArray("choices").addObject().put("index", index).set("delta", delta);
        return chunk;
    }

    @Override
    public String end() {
        if (fields.asked().includesUsage()) {
            var chunk = fields.call().open(CHUNK);
            chunk.putArray("choices");
            chunk.set("usage", fields.usage(usage.total()));
            ends.append(CallFormat.event(chunk));
        }
        return ends.append(DONE).toString();
    }

    @Override
    public String failure(ApiException failure) {
        return SglangErrors.streamed(failure);
    }
}
