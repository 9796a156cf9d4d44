package understudy.api.sglang;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;
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
    private static final double GREEDY = 1e-6;

    /** Most alternatives of a token that the edge makes up. */
    private static final int MAX_TOP_LOGPROBS = 20;

    /** Fields of the sampling parameters that have the same meaning in a completion. */
    private static final List<String> SAME = List.of(
            "n",
            "stop",
            "stop_token_ids",
            "ignore_eos",
            "skip_special_tokens",
            "frequency_penalty",
            "presence_penalty",
            "min_p",
            "top_p",
            "logit_bias");

    /** Others, by their names in a completion. */
    private static final Map<String, String> RENAMED = Map.of(
            "min_new_tokens", "min_tokens", "no_stop_trim", "include_stop_str_in_output", "sampling_seed", "seed");

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
     * @param hasPriorities whether the engine orders requests by their priorities; others ignore them
     */
    static GenerateRequest read(JsonBody body, String name, boolean hasPriorities) {
        var prompt = prompt(body);
        boolean isList = isList(prompt);
        int numPrompts = isList ? prompt.size() : 1;
        var sampling = sampling(body);
        checkSampling(sampling);
        int maxNewTokens = sampling.integer("max_new_tokens", MAX_NEW_TOKENS);
        boolean hasLogprobs = first(body, "return_logprob").bool("return_logprob", false);
        int numTop = Math.min(MAX_TOP_LOGPROBS, first(body, "top_logprobs_num").integer("top_logprobs_num", 0));
        boolean hasInput = first(body, "logprob_start_len").integer("logprob_start_len", -1) >= 0;
        var completion = Json.object();
        completion.set("prompt", prompt);
        completion.put("stream", body.bool("stream", false)).put("max_tokens", Math.max(1, maxNewTokens));
        completion.put("request_id", callName(body, name));
        copy(sampling, completion);
        BootstrapRooms.copy(body, completion);
        if (hasPriorities && body.get("priority") != null) {
            completion.set("priority", body.get("priority"));
        }
        String adapter = first(body, "lora_path").text("lora_path");
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

    private static void copy(JsonBody sampling, ObjectNode completion) {
        for (String key : SAME) {
            set(completion, key, sampling.get(key));
        }
        RENAMED.forEach((key, name) -> set(completion, name, sampling.get(key)));
        double temperature = number(sampling, "temperature", 1);
        // Only whether it is greedy matters here, and several answers to a prompt are never alike.
        if (temperature < GREEDY && sampling.integer("n", 1) == 1) {
            completion.put("temperature", 0);
        }
        set(completion.putObject("structured_outputs"), "regex", sampling.get("regex"));
        var schema = sampling.get("json_schema");
        if (schema != null) {
            completion.withObject("/structured_outputs").set("json", schema);
        }
        if (completion.get("structured_outputs").isEmpty()) {
            completion.remove("structured_outputs");
        }
    }

    private static void set(ObjectNode node, String key, @Nullable JsonNode value) {
        if (value != null) {
            node.set(key, value);
        }
    }

    /** As {@code SamplingParams.verify}. */
    private static void checkSampling(JsonBody sampling) {
        double temperature = number(sampling, "temperature", 1);
        check(temperature >= 0, "temperature must be non-negative, got " + temperature + ".");
        double topP = number(sampling, "top_p", 1);
        check(topP > 0 && topP <= 1, "top_p must be in (0, 1], got " + topP + ".");
        double minP = number(sampling, "min_p", 0);
        check(minP >= 0 && minP <= 1, "min_p must be in [0, 1], got " + minP + ".");
        int topK = sampling.integer("top_k", -1);
        check(topK >= 1 || topK == -1, "top_k must be -1 (disable) or at least 1, got " + topK + ".");
        double frequency = number(sampling, "frequency_penalty", 0);
        check(Math.abs(frequency) <= 2, "frequency_penalty must be in [-2, 2], got " + frequency + ".");
        double presence = number(sampling, "presence_penalty", 0);
        check(Math.abs(presence) <= 2, "presence_penalty must be in [-2, 2], got " + presence + ".");
        double repetition = number(sampling, "repetition_penalty", 1);
        check(repetition >= 0 && repetition <= 2, "repetition_penalty must be in [0, 2], got " + repetition + ".");
        int max = sampling.integer("max_new_tokens", MAX_NEW_TOKENS);
        int min = sampling.integer("min_new_tokens", 0);
        check(max >= 0, "max_new_tokens must be at least 0, got " + max + ".");
        check(min >= 0 && min <= max, "min_new_tokens must be in [0, max_new_tokens(" + max + ")], got " + min + ".");
        long numForms = Stream.of("json_schema", "regex", "ebnf")
                .filter(form -> sampling.get(form) != null)
                .count();
        check(numForms <= 1, "Only one of regex, json_schema, or ebnf can be set.");
        check(sampling.get("ebnf") == null, "ebnf is not supported here; use json_schema or regex");
    }

    private static double number(JsonBody sampling, String key, double otherwise) {
        var value = sampling.number(key);
        return value == null ? otherwise : value;
    }

    private static void check(boolean isGood, String message) {
        if (!isGood) {
            throw error(message);
        }
    }

    private static ApiException error(String message) {
        return ApiException.badRequest(message, null);
    }
}
