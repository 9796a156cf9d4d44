package understudy.api.pooling;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.function.Function;
import understudy.api.call.CallFormat;
import understudy.api.call.Delta;
import understudy.api.call.Generation;
import understudy.api.http.Json;
import understudy.prompt.TokenSequence;

/**
 * Format of answers that are never streamed.
 *
 * @param body makes the answer of the prompts
 */
record WholeFormat(Function<List<TokenSequence>, ObjectNode> body) implements CallFormat {
    @Override
    public ObjectNode whole(List<Whole> choices) {
        return body.apply(choices.stream()
                .<TokenSequence>map(each -> each.generation().spec().prompt())
                .toList());
    }

    @Override
    public String events(Generation generation, Delta delta) {
        throw new IllegalStateException("an answer of a pooling model is not streamed");
    }

    @Override
    public String end() {
        throw new IllegalStateException("an answer of a pooling model is not streamed");
    }

    /** Returns the tokens of prompts together. */
    static int numTokens(List<TokenSequence> prompts) {
        return prompts.stream().mapToInt(TokenSequence::length).sum();
    }

    /** Returns the field {@code usage}. */
    static ObjectNode usage(int numTokens) {
        return Json.object()
                .put("prompt_tokens", numTokens)
                .put("total_tokens", numTokens)
                .put("completion_tokens", 0)
                .putNull("prompt_tokens_details")
                .putNull("completion_tokens_details");
    }
}
