package understudy.api;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** The field {@code usage}. */
record Usage(int numPromptTokens, int numCompletionTokens, int numCachedTokens) {

    /** Returns it as it stands in a whole answer. */
    ObjectNode whole() {
        var usage = counts();
        usage.putObject("prompt_tokens_details").put("cached_tokens", numCachedTokens);
        return usage.putNull("completion_tokens_details");
    }

    /** Returns it as it stands in the last chunk of a stream. */
    ObjectNode last() {
        var usage = counts();
        usage.putObject("prompt_tokens_details").put("cached_tokens", numCachedTokens);
        return usage;
    }

    /** Returns it as it stands in a chunk on the way, when the cached tokens are not known yet. */
    ObjectNode counts() {
        return Json.object()
                .put("prompt_tokens", numPromptTokens)
                .put("total_tokens", numPromptTokens + numCompletionTokens)
                .put("completion_tokens", numCompletionTokens);
    }
}
