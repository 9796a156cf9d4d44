package understudy.api.openai;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import understudy.api.call.CallEvent;
import understudy.api.call.CallFormat;
import understudy.api.call.Delta;
import understudy.api.call.Generation;
import understudy.api.call.Usage;
import understudy.api.http.Json;

/** Format of answers in token ids (vLLM {@code GenerateResponse}). */
final class TokensFormat implements CallFormat {
    private final CallInfo call;
    private final StreamUsage usage;

    TokensFormat(CallInfo call) {
        this.call = call;
        usage = new StreamUsage(call);
    }

    @Override
    public ObjectNode whole(List<CallEvent.Piece> choices) {
        var body = Json.object()
                .put("request_id", call.id())
                .put("model", call.model())
                .put("created", call.created());
        var list = body.putArray("choices");
        for (var each : choices) {
            var choice = list.addObject();
            open(choice, each.generation(), each.delta());
            choice.set("stop_reason", ChatFormat.stopReason(each.delta()));
            choice.putNull("routed_experts");
        }
        body.set("usage", Usage.of(choices).whole());
        var prompt = choices.get(0).generation().spec().prompt();
        boolean hasPromptLogprobs = call.params().numPromptLogprobs() >= 0;
        body.set("prompt_logprobs", hasPromptLogprobs ? call.logprobs().ofPrompt(prompt) : body.nullNode());
        body.set("prompt_token_ids", call.params().returnsTokenIds() ? ChatFormat.tokens(prompt) : body.nullNode());
        body.set("kv_transfer_params", CallFormat.kvTransferParams(choices));
        return body.putNull("ec_transfer_params").putNull("metrics");
    }

    @Override
    public String events(Generation generation, Delta delta) {
        boolean isFirst = usage.add(generation, delta);
        boolean isEmpty = delta.toToken() == delta.fromToken() && delta.ending() == null;
        if (isEmpty) {
            return "";
        }
        var chunk = Json.object().put("request_id", call.id());
        var choice = chunk.putArray("choices").addObject();
        open(choice, generation, delta);
        choice.putNull("routed_experts");
        if (isFirst && call.params().returnsTokenIds()) {
            chunk.set("prompt_token_ids", ChatFormat.tokens(generation.spec().prompt()));
        }
        usage.addTo(chunk, generation, delta);
        return CallFormat.event(chunk);
    }

    private void open(ObjectNode choice, Generation generation, Delta delta) {
        choice.put("index", delta.choice());
        choice.set(
                "logprobs",
                call.hasLogprobs()
                        ? call.logprobs().ofTokens(generation, delta.fromToken(), delta.toToken())
                        : choice.nullNode());
        var ending = delta.ending();
        choice.put("finish_reason", ending == null ? null : ending.reason());
        choice.set("token_ids", ChatFormat.tokenIds(generation, delta));
    }

    @Override
    public String end() {
        if (!call.params().includesUsage()) {
            return DONE;
        }
        var chunk = Json.object().put("request_id", call.id());
        chunk.putArray("choices");
        chunk.set("usage", usage.total().last());
        return CallFormat.event(chunk) + DONE;
    }
}
