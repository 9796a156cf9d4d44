package understudy.api.sglang;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import understudy.api.call.Delta;
import understudy.api.call.Generation;
import understudy.api.call.Usage;
import understudy.api.http.Json;
import understudy.api.openai.CallInfo;
import understudy.prompt.TokenSequence;

/**
 * Fields that chat completions and completions have alike.
 *
 * @param reportsCache whether the usage tells what was cached ({@code --enable-cache-report})
 */
record AnswerFields(CallInfo call, OpenAiRequest.Asked asked, boolean reportsCache) {

    /** Returns the field {@code usage} ({@code usage_processor.py}); no model here reasons. */
    ObjectNode usage(Usage counted) {
        var usage = Json.object()
                .put("prompt_tokens", counted.numPromptTokens())
                .put("total_tokens", counted.numPromptTokens() + counted.numCompletionTokens())
                .put("completion_tokens", counted.numCompletionTokens());
        if (reportsCache && counted.numCachedTokens() > 0) {
            usage.putObject("prompt_tokens_details").put("cached_tokens", counted.numCachedTokens());
        } else {
            usage.putNull("prompt_tokens_details");
        }
        return usage.put("reasoning_tokens", 0);
    }

    /** Returns the usage of one answer so far, as chunks on the way have it. */
    ObjectNode runningUsage(Generation generation, Delta delta) {
        return usage(new Usage(generation.spec().prompt().length(), delta.toToken(), 0));
    }

    /** Returns whether a chunk holds nothing of its piece but the text. */
    boolean isPlain(Delta delta) {
        return call.isPlain(delta) && !asked.hasRunningUsage();
    }

    /** Adds the reason of an end, and what matched; both are null while there is none. */
    static void addEnding(ObjectNode choice, String reason, Generation generation, Delta delta) {
        var ending = delta.ending();
        if (ending == null) {
            choice.putNull("finish_reason").putNull("matched_stop");
        } else {
            choice.put("finish_reason", reason);
            choice.set("matched_stop", MatchedStop.of(generation, ending, delta.toToken()));
        }
    }

    /** Ends the body of a whole answer. */
    static ObjectNode withMetadata(ObjectNode body) {
        body.putObject("metadata").put("weight_version", "default");
        return body;
    }

    static ArrayNode ids(TokenSequence tokens) {
        var ids = Json.array();
        for (int i = 0; i < tokens.length(); i++) {
            ids.add(tokens.tokenAt(i));
        }
        return ids;
    }

    static ArrayNode ids(Generation generation, Delta delta) {
        var ids = Json.array();
        for (int i = delta.fromToken(); i < delta.toToken(); i++) {
            ids.add(generation.tokenAt(i));
        }
        return ids;
    }
}
