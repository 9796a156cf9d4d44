package understudy.api.call;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import understudy.api.http.Json;

/** The field {@code usage}. */
public record Usage(int numPromptTokens, int numCompletionTokens, int numCachedTokens) {

    /** Returns the usage of a call whose choices are complete, each in one piece. */
    public static Usage of(List<CallEvent.Piece> choices) {
        int numPrompt = 0;
        int numCompletion = 0;
        int numCached = 0;
        for (var choice : choices) {
            var spec = choice.generation().spec();
            var ending = choice.delta().ending();
            numCompletion += choice.delta().toToken();
            if (spec.choice() % spec.params().n() == 0) {
                numPrompt += spec.prompt().length();
                numCached += ending == null ? 0 : ending.numCachedTokens();
            }
        }
        return new Usage(numPrompt, numCompletion, numCached);
    }

    /** Returns it as it stands in a whole answer. */
    public ObjectNode whole() {
        var usage = counts();
        usage.putObject("prompt_tokens_details").put("cached_tokens", numCachedTokens);
        return usage.putNull("completion_tokens_details");
    }

    /** Returns it as it stands in the last chunk of a stream. */
    public ObjectNode last() {
        var usage = counts();
        usage.putObject("prompt_tokens_details").put("cached_tokens", numCachedTokens);
        return usage;
    }

    /** Returns it as it stands in a chunk on the way, when the cached tokens are not known yet. */
    public ObjectNode counts() {
        return Json.object()
                .put("prompt_tokens", numPromptTokens)
                .put("total_tokens", numPromptTokens + numCompletionTokens)
                .put("completion_tokens", numCompletionTokens);
    }
}
