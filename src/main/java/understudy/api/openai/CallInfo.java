package understudy.api.openai;

import com.fasterxml.jackson.databind.node.ObjectNode;
import understudy.api.call.Delta;
import understudy.api.call.GenerationParams;
import understudy.api.http.Json;
import understudy.api.model.Tokenizer;

/**
 * Fields common to all answers of a call.
 *
 * @param id with the prefix of its API
 * @param created seconds since 1970
 */
public record CallInfo(String id, long created, String model, GenerationParams params, Tokenizer tokenizer) {

    /** Returns a new object with the first fields of a chunk or an answer. */
    public ObjectNode open(String object) {
        return Json.object()
                .put("id", id)
                .put("object", object)
                .put("created", created)
                .put("model", model);
    }

    /** Returns the id of the function call that an answer is. */
    public String toolCallId(int choice) {
        return "chatcmpl-tool-" + id.substring(id.indexOf('-') + 1) + (choice == 0 ? "" : "-" + choice);
    }

    /** Returns whether log probabilities of the answers are wanted. */
    public boolean hasLogprobs() {
        return params.numLogprobs() >= 0;
    }

    /** Returns whether a chunk holds nothing of its piece but the text. */
    public boolean isPlain(Delta delta) {
        return delta.ending() == null && !hasLogprobs() && !params.returnsTokenIds() && !params.continuousUsage();
    }

    /** Returns its log probabilities. */
    public Logprobs logprobs() {
        return new Logprobs(
                tokenizer, Math.max(0, params.numLogprobs()), params.tokens().reported(), params.namesTokensById());
    }
}
