package understudy.api.openai;

import com.fasterxml.jackson.databind.node.ObjectNode;
import it.unimi.dsi.fastutil.ints.Int2IntOpenHashMap;
import it.unimi.dsi.fastutil.ints.Int2ObjectOpenHashMap;
import java.util.List;
import understudy.api.call.CallEvent;
import understudy.api.call.CallFormat;
import understudy.api.call.ChunkTemplate;
import understudy.api.call.Delta;
import understudy.api.call.Generation;
import understudy.api.call.Usage;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;
import understudy.prompt.TokenIds;
import understudy.prompt.TokenSequence;

/** Format of completions, whose prompts are texts or tokens. */
final class CompletionFormat implements CallFormat {
    private static final String OBJECT = "text_completion";
    private static final TokenSequence NOTHING = new TokenIds(new int[0]);

    private final CallInfo call;
    private final Echo echo;
    private final StreamUsage usage;
    private final Int2IntOpenHashMap numChars = new Int2IntOpenHashMap();
    private final Int2ObjectOpenHashMap<ChunkTemplate> templates = new Int2ObjectOpenHashMap<>();

    /** Place of the prompt in the answer. */
    enum Echo {
        /** It is not repeated. */
        NONE,
        /** It stands before the answer. */
        BEFORE,
        /** It is all that is answered. */
        ALONE;

        static Echo of(JsonBody body) {
            if (!body.bool("echo", false)) {
                return NONE;
            }
            return body.integer("max_tokens", 1) == 0 ? ALONE : BEFORE;
        }
    }

    CompletionFormat(CallInfo call, Echo echo) {
        this.call = call;
        this.echo = echo;
        usage = new StreamUsage(call);
    }

    @Override
    public ObjectNode whole(List<CallEvent.Piece> sampled) {
        var choices = sampled.stream()
                .map(each -> new CallEvent.Piece(each.generation(), shown(each.delta()), each.isLast()))
                .toList();
        var body = call.open(OBJECT);
        var list = body.putArray("choices");
        for (var choice : choices) {
            list.add(choice(choice.generation(), choice.delta()));
        }
        body.putNull("service_tier").putNull("system_fingerprint");
        body.set("usage", Usage.of(choices).whole());
        body.set("kv_transfer_params", CallFormat.kvTransferParams(choices));
        return body.putNull("ec_transfer_params").putNull("metrics");
    }

    /** Returns a piece without sampled tokens that were not asked for. */
    private Delta shown(Delta delta) {
        var ending = delta.ending();
        if (echo != Echo.ALONE || ending == null) {
            return delta;
        }
        var end = new Delta.Ending("length", null, ending.numCachedTokens());
        return new Delta(delta.choice(), 0, 0, "", end);
    }

    private ObjectNode choice(Generation generation, Delta delta) {
        var choice = open(generation, delta, true);
        var prompt = generation.spec().prompt();
        boolean hasIds = call.params().returnsTokenIds();
        choice.set("token_ids", hasIds ? ChatFormat.tokenIds(generation, delta) : choice.nullNode());
        boolean hasPromptLogprobs = call.params().numPromptLogprobs() >= 0;
        choice.set("prompt_logprobs", hasPromptLogprobs ? call.logprobs().ofPrompt(prompt) : choice.nullNode());
        choice.set("prompt_token_ids", hasIds ? ChatFormat.tokens(prompt) : choice.nullNode());
        return choice.putNull("routed_experts");
    }

    @Override
    public String events(Generation generation, Delta sampled) {
        var delta = shown(sampled);
        boolean isFirst = usage.add(generation, delta);
        if (!isFirst && call.isPlain(delta)) {
            return template(generation, delta.choice()).with(delta.text());
        }
        var chunk = call.open(OBJECT);
        var choice = open(generation, delta, isFirst);
        if (call.params().returnsTokenIds()) {
            choice.set("token_ids", ChatFormat.tokenIds(generation, delta));
        }
        chunk.putArray("choices").add(choice);
        usage.addTo(chunk, generation, delta);
        return CallFormat.event(chunk);
    }

    private ChunkTemplate template(Generation generation, int index) {
        var known = templates.get(index);
        if (known != null) {
            return known;
        }
        var chunk = call.open(OBJECT);
        var choice = open(generation, new Delta(index, 0, 0, ChunkTemplate.TEXT, null), false);
        chunk.putArray("choices").add(choice);
        var template = new ChunkTemplate(CallFormat.event(chunk));
        templates.put(index, template);
        return template;
    }

    private ObjectNode open(Generation generation, Delta delta, boolean isFirst) {
        TokenSequence repeated =
                echo != Echo.NONE && isFirst ? generation.spec().prompt() : NOTHING;
        String echoed = call.tokenizer().decode(repeated);
        var choice = Json.object().put("index", delta.choice()).put("text", echoed + delta.text());
        if (call.hasLogprobs()) {
            int offset = numChars.get(delta.choice());
            choice.set(
                    "logprobs",
                    call.logprobs().ofCompletion(repeated, generation, delta.fromToken(), delta.toToken(), offset));
        } else {
            choice.putNull("logprobs");
        }
        numChars.addTo(delta.choice(), echoed.length() + delta.text().length());
        var ending = delta.ending();
        choice.put("finish_reason", ending == null ? null : ending.reason());
        choice.set("stop_reason", ChatFormat.stopReason(delta));
        return choice;
    }

    @Override
    public String end() {
        return usage.end(OBJECT);
    }
}
