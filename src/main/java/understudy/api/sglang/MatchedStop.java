package understudy.api.sglang;

import com.fasterxml.jackson.databind.JsonNode;
import understudy.api.call.Delta;
import understudy.api.call.Generation;
import understudy.api.http.Json;

/** What ended an answer ({@code managers/schedule_batch.py}, {@code FINISH_MATCHED_TOKEN} and {@code FINISH_MATCHED_STR}). */
final class MatchedStop {
    private MatchedStop() {}

    /** Returns the text or the token that ended an answer, or null if none did. */
    static JsonNode of(Generation generation, Delta.Ending ending, int numTokens) {
        var nodes = Json.object();
        if (!ending.reason().equals("stop")) {
            return nodes.nullNode();
        }
        return ending.stopReason() instanceof String text
                ? nodes.textNode(text)
                : nodes.numberNode(generation.tokenAt(numTokens - 1));
    }
}
