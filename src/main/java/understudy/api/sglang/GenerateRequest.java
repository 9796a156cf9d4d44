package understudy.api.sglang;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import understudy.api.call.BootstrapRooms;
import understudy.api.http.ApiException;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;

/**
 * A call of {@code /generate} as the completion that it is (SGLang {@code managers/io_struct.py}, {@code GenerateReqInput},
 * and {@code sampling/sampling_params.py}).
 *
 * @param completion the body of that completion
 * @param shape of its answers
 */
record GenerateRequest(JsonBody completion, Shape shape) {
    private static final int MAX_NEW_TOKENS = 128;

    /** Most alternatives of a token that the edge makes up. */
    private static final int MAX_TOP_LOGPROBS = 20;

    /**
     * What a call says of its answers.
     *
     * @param rids names that the call was given: one, or one for each prompt
     * @param isList whether several prompts were sent, or one in a list
     * @param maxNewTokens most tokens of an answer, which may be 0
     * @param hasLogprobs whether log probabilities of the answer come with it
     * @param hasInputLogprobs whether those of the prompt come, too
     * @param hasLogprobTexts whether tokens are named by their texts, too
     * @param numTopLogprobs alternatives of each token
     */
    record Shape(
            List<String> rids,
            boolean isList,
            int maxNewTokens,
            boolean hasLogprobs,
            boolean hasInputLogprobs,
            boolean hasLogprobTexts,
            int numTopLogprobs) {

        /** Returns the name of the answers to a prompt. */
        String rid(int prompt) {
            return rids.size() > 1 || !isList ? rids.get(prompt) : rids.get(0) + "_" + prompt;
        }
    }

    /**
     * Reads and checks a body.
     *
     * @param name of the call, unless it has an {@code rid}
     * @param adapters that may be asked for
     * @param hasPriorities whether the engine orders requests by their priorities; others ignore them
     */
    static GenerateRequest read(JsonBody body, String name, AdapterNames adapters, boolean hasPriorities) {
        var prompt = prompt(body);
        boolean isList = isList(prompt);
        int numPrompts = isList ? prompt.size() : 1;
        var sampling = sampling(body);
        SamplingFields.verify(sampling, MAX_NEW_TOKENS);
        int maxNewTokens = sampling.integer("max_new_tokens", MAX_NEW_TOKENS);
        boolean hasLogprobs = first(body, "return_logprob").bool("return_logprob", false);
        int numTop = Math.min(MAX_TOP_LOGPROBS, first(body, "top_logprobs_num").integer("top_logprobs_num", 0));
        boolean hasInput = first(body, "logprob_start_len").integer("logprob_start_len", -1) >= 0;
        var completion = Json.object();
        completion.set("prompt", prompt);
        completion.put("stream", body.bool("stream", false)).put("max_tokens", Math.max(1, maxNewTokens));
        completion.put("request_id", callName(body, name));
        SamplingFields.copy(sampling, completion);
        BootstrapRooms.copy(body, completion);
        if (hasPriorities && body.get("priority") != null) {
            completion.set("priority", body.get("priority"));
        }
        String adapter = adapters.choose(body, null);
        if (adapter != null) {
            completion.put("model", adapter);
        }
        if (hasLogprobs) {
            completion.put("logprobs", Math.max(0, numTop));
        }
        var shape = new Shape(
                rids(body, name, numPrompts),
                isList,
                maxNewTokens,
                hasLogprobs,
                hasLogprobs && hasInput,
                body.bool("return_text_in_logprobs", false),
                Math.max(0, numTop));
        return new GenerateRequest(new JsonBody(completion), shape);
    }

    private static JsonNode prompt(JsonBody body) {
        if (body.get("input_embeds") != null) {
            throw error("input_embeds are not supported here; use text or input_ids");
        }
        boolean hasIds = body.get("input_ids") != null;
        var prompt = hasIds ? body.get("input_ids") : body.get("text");
        if (prompt == null) {
            throw error("Either text, input_ids or input_embeds should be provided.");
        }
        boolean isText = !hasIds && (prompt.isTextual() || areAll(prompt, JsonNode::isTextual));
        boolean isIds = hasIds && (areAll(prompt, JsonNode::isInt) || areAll(prompt, GenerateRequest::areIds));
        if (!isText && !isIds) {
            throw ApiException.invalid("Input should be a valid list", hasIds ? "body.input_ids" : "body.text");
        }
        if (prompt.isTextual() ? prompt.textValue().isEmpty() : prompt.isEmpty()) {
            throw error("The input is empty; text and input_ids need at least one token.");
        }
        return prompt;
    }

    private static boolean areIds(JsonNode list) {
        return areAll(list, JsonNode::isInt);
    }

    private static boolean areAll(JsonNode list, Predicate<JsonNode> isGood) {
        if (!list.isArray()) {
            return false;
        }
        for (var each : list) {
            if (!isGood.test(each)) {
                return false;
            }
        }
        return true;
    }

    private static boolean isList(JsonNode prompt) {
        return prompt.isArray() && !prompt.get(0).isInt();
    }

    /** Returns the parameters, which a list of prompts may have once for each; here they must be the same then. */
    private static JsonBody sampling(JsonBody body) {
        var given = body.get("sampling_params");
        if (given == null || !given.isArray()) {
            return body.object("sampling_params");
        }
        for (var each : given) {
            if (!each.equals(given.get(0))) {
                throw error("sampling_params that differ between the prompts of a call are not supported here.");
            }
        }
        return first(body, "sampling_params").object("sampling_params");
    }

    /** Returns a body whose field is the first element of a list, if it is one. */
    private static JsonBody first(JsonBody body, String key) {
        var value = body.get(key);
        if (value == null || !value.isArray()) {
            return body;
        }
        var single = Json.object();
        if (!value.isEmpty()) {
            single.set(key, value.get(0));
        }
        return new JsonBody(single);
    }

    private static @Nullable JsonNode ridNode(JsonBody body) {
        var rid = body.get("rid");
        boolean isGood = rid == null || rid.isTextual() || areAll(rid, JsonNode::isTextual);
        if (!isGood) {
            throw ApiException.invalid("Input should be a valid string", "body.rid");
        }
        return rid;
    }

    private static String callName(JsonBody body, String name) {
        var rid = ridNode(body);
        if (rid == null || (rid.isEmpty() && rid.isArray())) {
            return name;
        }
        return rid.isTextual() ? rid.textValue() : rid.get(0).textValue();
    }

    private static List<String> rids(JsonBody body, String name, int numPrompts) {
        var rid = ridNode(body);
        if (rid == null || rid.isTextual()) {
            return List.of(callName(body, name));
        }
        if (rid.size() != numPrompts) {
            throw error("The rid should be a string or a list with one element for each prompt.");
        }
        return StreamSupport.stream(rid.spliterator(), false)
                .map(JsonNode::textValue)
                .toList();
    }

    private static ApiException error(String message) {
        return ApiException.badRequest(message, null);
    }
}
