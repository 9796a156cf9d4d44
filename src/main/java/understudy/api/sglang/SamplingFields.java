package understudy.api.sglang;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import understudy.api.http.ApiException;
import understudy.api.http.JsonBody;

/** Sampling parameters of a call (SGLang {@code sampling/sampling_params.py}): its checks, and what they are in vLLM's words. */
final class SamplingFields {
    private static final double GREEDY = 1e-6;

    /** Fields that have the same meaning in vLLM's completions. */
    private static final List<String> SAME =
            List.of("n", "stop", "stop_token_ids", "ignore_eos", "skip_special_tokens", "logit_bias");

    /** Others, by their names there. */
    private static final Map<String, String> RENAMED = Map.of(
            "min_new_tokens", "min_tokens", "no_stop_trim", "include_stop_str_in_output", "sampling_seed", "seed");

    private SamplingFields() {}

    /**
     * Refuses what {@code SamplingParams.verify} refuses.
     *
     * @param otherwise most new tokens if none are given, or null for as many as fit
     */
    static void verify(JsonBody sampling, @Nullable Integer otherwise) {
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
        verifyLengths(sampling, otherwise);
        long numForms = Stream.of("json_schema", "regex", "ebnf")
                .filter(form -> sampling.get(form) != null)
                .count();
        check(numForms <= 1, "Only one of regex, json_schema, or ebnf can be set.");
        check(sampling.get("ebnf") == null, "ebnf is not supported here; use json_schema or regex");
    }

    private static void verifyLengths(JsonBody sampling, @Nullable Integer otherwise) {
        var most = sampling.integer("max_new_tokens");
        int min = sampling.integer("min_new_tokens", 0);
        if (most == null && otherwise == null) {
            check(min >= 0, "min_new_tokens must be in [0, max_new_tokens], got " + min + ".");
            return;
        }
        int max = otherwise == null
                ? sampling.integer("max_new_tokens", 0)
                : sampling.integer("max_new_tokens", otherwise);
        check(max >= 0, "max_new_tokens must be at least 0, got " + max + ".");
        check(min >= 0 && min <= max, "min_new_tokens must be in [0, max_new_tokens(" + max + ")], got " + min + ".");
    }

    /** Puts into a call in vLLM's words what has an effect on answers that are not sampled. */
    static void copy(JsonBody sampling, ObjectNode call) {
        for (String key : SAME) {
            set(call, key, sampling.get(key));
        }
        RENAMED.forEach((key, name) -> set(call, name, sampling.get(key)));
        // Only whether it is greedy matters here, and several answers to a prompt are never alike.
        if (number(sampling, "temperature", 1) < GREEDY && sampling.integer("n", 1) == 1) {
            call.put("temperature", 0);
        }
        var regex = sampling.get("regex");
        var schema = sampling.get("json_schema");
        if (regex != null) {
            call.putObject("structured_outputs").set("regex", regex);
        } else if (schema != null) {
            call.putObject("structured_outputs").set("json", schema);
        }
    }

    private static void set(ObjectNode node, String key, @Nullable JsonNode value) {
        if (value != null) {
            node.set(key, value);
        }
    }

    private static double number(JsonBody sampling, String key, double otherwise) {
        var value = sampling.number(key);
        return value == null ? otherwise : value;
    }

    private static void check(boolean isGood, String message) {
        if (!isGood) {
            throw ApiException.badRequest(message, null);
        }
    }
}
