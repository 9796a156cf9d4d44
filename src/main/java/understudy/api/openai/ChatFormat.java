package understudy.api.openai;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import it.unimi.dsi.fastutil.ints.Int2ObjectOpenHashMap;
import java.util.List;
import understudy.api.call.CallEvent;
import understudy.api.call.CallFormat;
import understudy.api.call.ChunkTemplate;
import understudy.api.call.Delta;
import understudy.api.call.Generation;
import understudy.api.call.Usage;
import understudy.api.http.Json;
import understudy.prompt.TokenSequence;

/** Format of chat completions. */
final class ChatFormat implements CallFormat {
    private static final String CHUNK = "chat.completion.chunk";

    private final CallInfo call;
    private final boolean isNamedCall;
    private final String echoed;
    private final StreamUsage usage;
    private final ToolCallStream toolCalls;
    private final Int2ObjectOpenHashMap<ChunkTemplate> templates = new Int2ObjectOpenHashMap<>();

    private boolean isOpen;

    /**
     * Creates the format of a call.
     *
     * @param isNamedCall whether the client named the function that is called, which then is no reason to finish
     */
    ChatFormat(CallInfo call, boolean isNamedCall) {
        this(call, isNamedCall, "");
    }

    /**
     * Creates the format of a call.
     *
     * @param echoed text before that of each answer, see {@link CallParser#echoed}
     */
    ChatFormat(CallInfo call, boolean isNamedCall, String echoed) {
        this.call = call;
        this.isNamedCall = isNamedCall;
        this.echoed = echoed;
        usage = new StreamUsage(call);
        toolCalls = new ToolCallStream(call::toolCallId);
    }

    @Override
    public ObjectNode whole(List<CallEvent.Piece> choices) {
        var body = call.open("chat.completion");
        var list = body.putArray("choices");
        for (var choice : choices) {
            list.add(choice(choice));
        }
        body.putNull("service_tier").putNull("system_fingerprint");
        body.set("usage", Usage.of(choices).whole());
        var prompt = choices.get(0).generation().spec().prompt();
        boolean hasPromptLogprobs = call.params().numPromptLogprobs() >= 0;
        body.set("prompt_logprobs", hasPromptLogprobs ? call.logprobs().ofPrompt(prompt) : body.nullNode());
        body.set("prompt_token_ids", call.params().returnsTokenIds() ? tokens(prompt) : body.nullNode());
        body.putNull("prompt_text").set("kv_transfer_params", CallFormat.kvTransferParams(choices));
        return body.putNull("ec_transfer_params").putNull("metrics");
    }

    private ObjectNode choice(CallEvent.Piece whole) {
        var delta = whole.delta();
        var answer = whole.generation().spec().answer();
        var choice = Json.object().put("index", delta.choice());
        var message = choice.putObject("message").put("role", "assistant");
        boolean isCalling = !answer.toolCalls().isEmpty();
        message.put("content", isCalling ? null : echoed + delta.text());
        message.putNull("refusal").putNull("annotations").putNull("audio").putNull("function_call");
        if (isCalling) {
            message.set("tool_calls", toolCalls.whole(answer, delta));
        }
        message.putNull("reasoning");
        addLogprobs(choice, whole.generation(), delta);
        addEnding(choice, delta, isCalling);
        boolean hasIds = call.params().returnsTokenIds();
        choice.set("token_ids", hasIds ? tokenIds(whole.generation(), delta) : choice.nullNode());
        return choice.putNull("routed_experts");
    }

    @Override
    public String events(Generation generation, Delta delta) {
        usage.add(generation, delta);
        boolean isCalling = !generation.spec().answer().toolCalls().isEmpty();
        if (isOpen && !isCalling && call.isPlain(delta)) {
            return template(generation, delta.choice()).with(delta.text());
        }
        var events = new StringBuilder();
        for (int choice = 0; !isOpen && choice < call.params().n(); choice++) {
            events.append(CallFormat.event(opening(generation, choice)));
        }
        for (int choice = 0;
                !isOpen && !echoed.isEmpty() && choice < call.params().n();
                choice++) {
            var content = Json.object().put("content", echoed);
            events.append(CallFormat.event(bare(generation, choice, content)));
        }
        isOpen = true;
        if (isCalling) {
            for (var content : toolCalls.next(generation.spec().answer(), delta)) {
                events.append(CallFormat.event(chunk(generation, delta, content, true)));
            }
        } else {
            var content = Json.object().put("content", delta.text());
            events.append(CallFormat.event(chunk(generation, delta, content, false)));
        }
        return events.toString();
    }

    /** Returns the chunk that says whose answer begins. Those of all answers come first. */
    private ObjectNode opening(Generation generation, int index) {
        var chunk =
                bare(generation, index, Json.object().put("role", "assistant").put("content", ""));
        if (call.params().returnsTokenIds()) {
            chunk.set("prompt_token_ids", tokens(generation.spec().prompt()));
        }
        return chunk;
    }

    /** Returns a chunk that no token has led to. */
    private ObjectNode bare(Generation generation, int index, ObjectNode content) {
        var chunk = call.open(CHUNK);
        var choice = chunk.putArray("choices").addObject().put("index", index);
        choice.set("delta", content);
        choice.putNull("logprobs").putNull("finish_reason");
        usage.addTo(chunk, generation, new Delta(index, 0, 0, "", null));
        return chunk;
    }

    private ChunkTemplate template(Generation generation, int choice) {
        var known = templates.get(choice);
        if (known != null) {
            return known;
        }
        var content = Json.object().put("content", ChunkTemplate.TEXT);
        var chunk = chunk(generation, new Delta(choice, 0, 0, "", null), content, false);
        var template = new ChunkTemplate(CallFormat.event(chunk));
        templates.put(choice, template);
        return template;
    }

    private ObjectNode chunk(Generation generation, Delta delta, ObjectNode content, boolean isCalling) {
        var chunk = call.open(CHUNK);
        var choice = chunk.putArray("choices").addObject().put("index", delta.choice());
        choice.set("delta", content);
        addLogprobs(choice, generation, delta);
        if (delta.ending() == null) {
            choice.putNull("finish_reason");
        } else {
            addEnding(choice, delta, isCalling);
        }
        if (call.params().returnsTokenIds()) {
            choice.set("token_ids", tokenIds(generation, delta));
        }
        usage.addTo(chunk, generation, delta);
        return chunk;
    }

    @Override
    public String end() {
        return usage.end(CHUNK);
    }

    private void addLogprobs(ObjectNode choice, Generation generation, Delta delta) {
        var logprobs = call.hasLogprobs()
                ? call.logprobs().ofChat(generation, delta.fromToken(), delta.toToken())
                : choice.nullNode();
        choice.set("logprobs", logprobs);
    }

    private void addEnding(ObjectNode choice, Delta delta, boolean isCalling) {
        var ending = delta.ending();
        String reason = ending == null ? "stop" : ending.reason();
        choice.put("finish_reason", isCalling && !isNamedCall && reason.equals("stop") ? "tool_calls" : reason);
        choice.set("stop_reason", stopReason(delta));
    }

    /** Returns the field {@code stop_reason}: a text, a token id, or null. */
    static JsonNode stopReason(Delta delta) {
        var ending = delta.ending();
        Object reason = ending == null ? null : ending.stopReason();
        var nodes = Json.object();
        if (reason instanceof Integer token) {
            return nodes.numberNode(token);
        }
        return reason == null ? nodes.nullNode() : nodes.textNode(String.valueOf(reason));
    }

    static ArrayNode tokenIds(Generation generation, Delta delta) {
        var ids = Json.array();
        for (int i = delta.fromToken(); i < delta.toToken(); i++) {
            ids.add(generation.tokenAt(i));
        }
        return ids;
    }

    static ArrayNode tokens(TokenSequence tokens) {
        var ids = Json.array();
        for (int i = 0; i < tokens.length(); i++) {
            ids.add(tokens.tokenAt(i));
        }
        return ids;
    }
}
