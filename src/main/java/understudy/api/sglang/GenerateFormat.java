package understudy.api.sglang;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import it.unimi.dsi.fastutil.ints.Int2ObjectOpenHashMap;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.api.call.CallEvent;
import understudy.api.call.CallFormat;
import understudy.api.call.Delta;
import understudy.api.call.Generation;
import understudy.api.http.ApiException;
import understudy.api.http.Json;
import understudy.api.openai.Logprobs;
import understudy.prompt.TokenSequence;

/**
 * Format of {@code /generate} (SGLang {@code managers/tokenizer_manager.py}, {@code _handle_batch_output}). Each event of a
 * stream has all of the text so far, as without {@code --incremental-streaming-output}.
 */
final class GenerateFormat implements CallFormat {
    private final GenerateRequest.Shape shape;
    private final int numAnswers;
    private final Logprobs logprobs;
    private final TokenSessions.@Nullable Turn turn;
    private final Int2ObjectOpenHashMap<StringBuilder> texts = new Int2ObjectOpenHashMap<>();

    /**
     * Creates a format for a call.
     *
     * @param numAnswers of each prompt
     * @param turn of a session, which is told of the end, or null
     */
    GenerateFormat(GenerateRequest.Shape shape, int numAnswers, Logprobs logprobs, TokenSessions.@Nullable Turn turn) {
        this.turn = turn;
        this.shape = shape;
        this.numAnswers = numAnswers;
        this.logprobs = logprobs;
    }

    /** Several answers are a list. */
    @Override
    public JsonNode whole(List<CallEvent.Piece> choices) {
        if (!isList()) {
            return answer(
                    choices.get(0).generation(),
                    choices.get(0).delta(),
                    choices.get(0).delta().text());
        }
        var list = Json.array();
        for (var each : choices) {
            list.add(answer(each.generation(), each.delta(), each.delta().text()));
        }
        return list;
    }

    private boolean isList() {
        return shape.isList() || numAnswers > 1;
    }

    @Override
    public String events(Generation generation, Delta delta) {
        var text = texts.computeIfAbsent(delta.choice(), choice -> new StringBuilder());
        text.append(delta.text());
        if (shape.maxNewTokens() == 0 && delta.ending() == null) {
            return "";
        }
        var answer = answer(generation, delta, text.toString());
        if (isList()) {
            answer.put("index", delta.choice());
        }
        return CallFormat.event(answer);
    }

    @Override
    public String end() {
        return DONE;
    }

    @Override
    public String failure(ApiException failure) {
        return CallFormat.event(SglangErrors.body(failure)) + DONE;
    }

    private ObjectNode answer(Generation generation, Delta delta, String text) {
        // One token is sampled in any case, which a call for none does not show.
        boolean isNothing = shape.maxNewTokens() == 0;
        int numTokens = isNothing ? 0 : delta.toToken();
        var answer = Json.object().put("text", isNothing ? "" : text);
        var ids = answer.putArray("output_ids");
        for (int i = 0; i < numTokens; i++) {
            ids.add(generation.tokenAt(i));
        }
        var prompt = generation.spec().prompt();
        var ending = delta.ending();
        var meta = answer.putObject("meta_info").put("id", id(delta.choice()));
        meta.set("finish_reason", ending == null ? meta.nullNode() : finishReason(generation, ending, numTokens));
        meta.put("prompt_tokens", prompt.length()).put("weight_version", "default");
        if (shape.hasLogprobs()) {
            addLogprobs(meta, generation, prompt, numTokens);
        }
        meta.put("completion_tokens", numTokens);
        if (ending != null) {
            if (turn != null) {
                turn.end(ids(generation, numTokens), !ending.reason().equals("abort"));
            }
            meta.put("cached_tokens", ending.numCachedTokens());
            meta.put("e2e_latency", generation.tookNanos() / 1e9);
        }
        return answer;
    }

    private static int[] ids(Generation generation, int numTokens) {
        int[] ids = new int[numTokens];
        Arrays.setAll(ids, generation::tokenAt);
        return ids;
    }

    private String id(int choice) {
        String id = shape.rid(choice / numAnswers);
        return numAnswers == 1 ? id : id + "_" + choice % numAnswers;
    }

    /** As {@code FINISH_MATCHED_TOKEN}, {@code FINISH_MATCHED_STR}, {@code FINISH_LENGTH} and {@code FINISH_ABORT}. */
    private static ObjectNode finishReason(Generation generation, Delta.Ending ending, int numTokens) {
        var reason = Json.object().put("type", ending.reason());
        switch (ending.reason()) {
            case "stop" -> reason.set("matched", MatchedStop.of(generation, ending, numTokens));
            case "length" -> reason.put("length", numTokens);
            default -> reason.put("message", "Aborted").putNull("status_code").putNull("err_type");
        }
        return reason;
    }

    private void addLogprobs(ObjectNode meta, Generation generation, TokenSequence prompt, int numTokens) {
        var input = meta.putArray("input_token_logprobs");
        for (int i = 0; i < prompt.length() && shape.hasInputLogprobs(); i++) {
            add(input, prompt.tokenAt(i), i, 0);
        }
        var output = meta.putArray("output_token_logprobs");
        for (int i = 0; i < numTokens; i++) {
            add(output, generation.tokenAt(i), i, 0);
        }
        if (shape.numTopLogprobs() > 0) {
            var top = meta.putArray("output_top_logprobs");
            for (int i = 0; i < numTokens; i++) {
                var ranks = top.addArray();
                for (int rank = 0; rank < shape.numTopLogprobs(); rank++) {
                    add(ranks, generation.tokenAt(i), i, rank);
                }
            }
        }
    }

    /** Adds a tuple of a log probability, an id and a text, of the token or of the alternative of a rank. */
    private void add(ArrayNode list, int token, int index, int rank) {
        int named = Logprobs.alternative(token, index, rank);
        var tuple = list.addArray().add(Logprobs.of(token, index) - rank).add(named);
        if (shape.hasLogprobTexts()) {
            tuple.add(logprobs.tokenizer().decode(named));
        } else {
            tuple.addNull();
        }
    }
}
