package understudy.api.sglang;

import com.fasterxml.jackson.databind.JsonNode;
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
import understudy.api.http.ApiException;
import understudy.api.http.Json;
import understudy.api.openai.StreamUsage;
import understudy.prompt.TokenIds;
import understudy.prompt.TokenSequence;

/** Format of completions ({@code entrypoints/openai/serving_completions.py}). */
final class CompletionFormat implements CallFormat {
    private static final String OBJECT = "text_completion";
    private static final TokenSequence NOTHING = new TokenIds(new int[0]);

    private final AnswerFields fields;
    private final boolean echoes;
    private final StreamUsage usage;
    private final Int2IntOpenHashMap numChars = new Int2IntOpenHashMap();
    private final Int2ObjectOpenHashMap<ChunkTemplate> templates = new Int2ObjectOpenHashMap<>();

    /**
     * Creates the format of a call.
     *
     * @param echoes whether the prompt stands before each answer
     */
    CompletionFormat(AnswerFields fields, boolean echoes) {
        this.fields = fields;
        this.echoes = echoes;
        usage = new StreamUsage(fields.call());
    }

    @Override
    public JsonNode whole(List<CallEvent.Piece> choices) {
        var body = fields.call().open(OBJECT);
        var list = body.putArray("choices");
        for (var each : choices) {
            list.add(choice(each.generation(), each.delta(), true));
        }
        body.set("usage", fields.usage(Usage.of(choices)));
        return AnswerFields.withMetadata(body);
    }

    private ObjectNode choice(Generation generation, Delta delta, boolean isFirst) {
        var call = fields.call();
        var prompt = generation.spec().prompt();
        var repeated = echoes && isFirst ? prompt : NOTHING;
        String echoed = call.tokenizer().decode(repeated);
        var choice = Json.object().put("index", delta.choice()).put("text", echoed + delta.text());
        int offset =
                numChars.addTo(delta.choice(), echoed.length() + delta.text().length());
        choice.set(
                "logprobs",
                call.hasLogprobs()
                        ? call.logprobs().ofCompletion(repeated, generation, delta.fromToken(), delta.toToken(), offset)
                        : choice.nullNode());
        var ending = delta.ending();
        AnswerFields.addEnding(choice, ending == null ? "" : ending.reason(), generation, delta);
        if (call.params().returnsTokenIds()) {
            choice.set("token_ids", AnswerFields.ids(generation, delta));
            if (isFirst) {
                choice.set("prompt_token_ids", AnswerFields.ids(prompt));
            }
        }
        return choice;
    }

    @Override
    public String events(Generation generation, Delta delta) {
        boolean isFirst = usage.add(generation, delta);
        if (!isFirst && fields.isPlain(delta)) {
            return templates
                    .computeIfAbsent(delta.choice(), choice -> template(generation, choice))
                    .with(delta.text());
        }
        return CallFormat.event(chunk(generation, delta, isFirst));
    }

    private ChunkTemplate template(Generation generation, int choice) {
        var marked = new Delta(choice, 0, 0, ChunkTemplate.TEXT, null);
        return new ChunkTemplate(CallFormat.event(chunk(generation, marked, false)));
    }

    private ObjectNode chunk(Generation generation, Delta delta, boolean isFirst) {
        var chunk = fields.call().open(OBJECT);
        chunk.putArray("choices").add(choice(generation, delta, isFirst));
        chunk.set(
                "usage", fields.asked().hasRunningUsage() ? fields.runningUsage(generation, delta) : chunk.nullNode());
        return chunk;
    }

    /** The usage comes without what is null. */
    @Override
    public String end() {
        if (!fields.asked().includesUsage()) {
            return DONE;
        }
        var chunk = fields.call().open(OBJECT);
        chunk.putArray("choices");
        var total = fields.usage(usage.total());
        if (total.get("prompt_tokens_details").isNull()) {
            total.remove("prompt_tokens_details");
        }
        chunk.set("usage", total);
        return CallFormat.event(chunk) + DONE;
    }

    @Override
    public String failure(ApiException failure) {
        return SglangErrors.streamed(failure);
    }
}
