package understudy.api.pooling;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import understudy.api.call.CallEvent;
import understudy.api.http.Json;
import understudy.prompt.TokenSequence;

/** The field {@code usage} of a pooling model's answer: it has tokens of prompts only. */
final class PoolingUsage {
    private PoolingUsage() {}

    /** Returns the prompts of a call that is complete. */
    static List<TokenSequence> prompts(List<CallEvent.Piece> choices) {
        return choices.stream()
                .<TokenSequence>map(each -> each.generation().spec().prompt())
                .toList();
    }

    /** Returns the tokens of prompts together. */
    static int numTokens(List<TokenSequence> prompts) {
        return prompts.stream().mapToInt(TokenSequence::length).sum();
    }

    /** Returns the field. */
    static ObjectNode of(int numTokens) {
        return Json.object()
                .put("prompt_tokens", numTokens)
                .put("total_tokens", numTokens)
                .put("completion_tokens", 0)
                .putNull("prompt_tokens_details")
                .putNull("completion_tokens_details");
    }
}
