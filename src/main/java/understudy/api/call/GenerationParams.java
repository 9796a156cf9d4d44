package understudy.api.call;

import it.unimi.dsi.fastutil.ints.IntOpenHashSet;
import it.unimi.dsi.fastutil.ints.IntSet;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import understudy.api.http.ApiException;
import understudy.api.http.JsonBody;
import understudy.jsonsample.Constraint;
import understudy.jsonsample.SchemaSample;

/**
 * Checked parameters common to all ways to generate (vLLM {@code sampling_params.py}).
 *
 * @param model as asked for, or null for the one that is served
 * @param n answers to each prompt
 * @param maxTokens most output tokens, or null for as many as fit
 * @param numLogprobs alternatives to report with each token, or -1 for no log probabilities at all
 * @param numPromptLogprobs the same for the prompt
 * @param seed as asked for, or null
 * @param user who asks, in the client's words, or empty
 * @param kvTransferParams what the call says of KV in other processes, see {@link KvTransferFields}
 * @param truncatePrompt tokens to keep of the prompt, from its end, or 0 for all
 */
public record GenerationParams(
        @Nullable String model,
        int n,
        @Nullable Integer maxTokens,
        int minTokens,
        boolean ignoresEos,
        List<String> stops,
        boolean includesStop,
        IntSet stopTokenIds,
        boolean streams,
        boolean includesUsage,
        boolean continuousUsage,
        int priority,
        String user,
        String cacheSalt,
        @Nullable Long seed,
        boolean isGreedy,
        int numLogprobs,
        int numPromptLogprobs,
        boolean returnsTokenIds,
        boolean skipsSpecialTokens,
        JsonBody kvTransferParams,
        int truncatePrompt) {
    private static final int MAX_N = 1024;
    private static final int MAX_LOGPROBS = 20;

    /**
     * Reads and checks.
     *
     * @param maxTokensKeys names of the field for the most tokens, the strongest first
     * @param defaultMaxTokens for when there is none of them, or null for as many as fit
     * @param logprobs how many log probabilities are asked for, which the APIs say in different ways
     */
    public static GenerationParams read(
            JsonBody body, List<String> maxTokensKeys, @Nullable Integer defaultMaxTokens, int logprobs) {
        var maxTokens = maxTokens(body, maxTokensKeys, defaultMaxTokens);
        int minTokens = body.integer("min_tokens", 0);
        var stops = body.texts("stop");
        var stream = body.object("stream_options");
        boolean streams = body.bool("stream", false);
        if (body.get("stream_options") != null && !streams) {
            throw ApiException.badRequest("Stream options can only be defined when `stream=True`.", "stream_options");
        }
        var salt = body.text("cache_salt");
        check(
                salt == null || !salt.isEmpty(),
                "Parameter 'cache_salt' must be a non-empty string if provided.",
                "cache_salt",
                "");
        check(
                minTokens >= 0,
                "min_tokens must be greater than or equal to 0, got " + minTokens + ".",
                "min_tokens",
                minTokens);
        check(
                maxTokens == null || minTokens <= maxTokens,
                "min_tokens must be less than or equal to max_tokens=" + maxTokens + ", got " + minTokens + ".",
                "min_tokens",
                minTokens);
        check(!stops.contains(""), "stop cannot contain an empty string.", "stop", stops);
        boolean isGreedy = checkSampling(body);
        // A prompt that is repeated in the answer has what the answer has.
        int promptLogprobs = body.integer("prompt_logprobs", body.bool("echo", false) ? logprobs : -1);
        if (streams && body.integer("prompt_logprobs", 0) != 0) {
            throw ApiException.badRequest("`prompt_logprobs` are not available when `stream=True`.", "prompt_logprobs");
        }
        check(
                promptLogprobs >= -1 && promptLogprobs <= MAX_LOGPROBS,
                "prompt_logprobs must be from 0 to " + MAX_LOGPROBS + ", got " + promptLogprobs + ".",
                "prompt_logprobs",
                promptLogprobs);
        check(
                logprobs <= MAX_LOGPROBS,
                "Requested sample logprobs of " + logprobs + ", which is greater than max allowed: " + MAX_LOGPROBS,
                "logprobs",
                logprobs);
        return new GenerationParams(
                body.text("model"),
                body.bool("use_beam_search", false) ? numBeams(body) : n(body, isGreedy),
                maxTokens,
                minTokens,
                body.bool("ignore_eos", false),
                stops,
                body.bool("include_stop_str_in_output", false),
                new IntOpenHashSet(body.tokens("stop_token_ids")),
                streams,
                stream.bool("include_usage", false),
                stream.bool("include_usage", false) && stream.bool("continuous_usage_stats", false),
                body.integer("priority", 0),
                Objects.requireNonNullElse(body.text("user"), ""),
                salt == null ? "" : salt,
                body.integer("seed"),
                isGreedy,
                logprobs,
                promptLogprobs,
                body.bool("return_token_ids", false),
                body.bool("skip_special_tokens", true),
                body.object("kv_transfer_params"),
                truncation(body));
    }

    private static @Nullable Integer maxTokens(JsonBody body, List<String> keys, @Nullable Integer otherwise) {
        for (String key : keys) {
            if (body.get(key) != null) {
                int value = body.integer(key, 0);
                check(value >= 1, key + " must be at least 1, got " + value + ".", key, value);
                return value;
            }
        }
        return otherwise;
    }

    private static int n(JsonBody body, boolean isGreedy) {
        int n = body.integer("n", 1);
        check(n >= 1, "n must be at least 1, got " + n + ".", "n", n);
        check(n <= MAX_N, "n must be at most " + MAX_N + ", got " + n + ".", "n", n);
        check(n == 1 || !isGreedy, "n must be 1 when using greedy sampling, got " + n + ".", "n", n);
        return n;
    }

    /** Each step of a beam search looks at twice as many tokens as there are beams. */
    private static int numBeams(JsonBody body) {
        int n = n(body, false);
        check(
                2 * n <= MAX_LOGPROBS,
                "Requested sample logprobs of " + 2 * n + ", which is greater than max allowed: " + MAX_LOGPROBS,
                "logprobs",
                2 * n);
        return n;
    }

    private static int truncation(JsonBody body) {
        int truncation = body.integer("truncate_prompt_tokens", 0);
        check(
                truncation >= -1,
                "truncate_prompt_tokens must be at least -1, got " + truncation + ".",
                "truncate_prompt_tokens",
                truncation);
        return Math.max(0, truncation);
    }

    /** Checks what has no influence on a model that does not sample, and returns whether sampling would be greedy. */
    private static boolean checkSampling(JsonBody body) {
        inRange(body, "temperature", 0, 2);
        inRange(body, "min_p", 0, 1);
        inRange(body, "presence_penalty", -2, 2);
        inRange(body, "frequency_penalty", -2, 2);
        double topP = orElse(body.number("top_p"), 1);
        check(topP > 0 && topP <= 1, "top_p must be in (0, 1], got " + topP + ".", "top_p", topP);
        double repetition = orElse(body.number("repetition_penalty"), 1);
        check(
                repetition > 0,
                "repetition_penalty must be greater than zero, got " + repetition + ".",
                "repetition_penalty",
                repetition);
        int topK = body.integer("top_k", 0);
        check(topK >= -1, "top_k must be 0 (disable), or at least 1, got " + topK + ".", "top_k", topK);
        body.object("logit_bias");
        return orElse(body.number("temperature"), 1) < 1e-5;
    }

    private static void inRange(JsonBody body, String key, double min, double max) {
        var value = body.number(key);
        check(
                value == null || (value >= min && value <= max),
                key + " must be in [" + format(min) + ", " + format(max) + "], got " + value + ".",
                key,
                String.valueOf(value));
    }

    private static String format(double bound) {
        return bound == (long) bound ? String.valueOf((long) bound) : String.valueOf(bound);
    }

    private static double orElse(@Nullable Double value, double otherwise) {
        return value == null ? otherwise : value;
    }

    private static void check(boolean isGood, String message, String param, Object value) {
        if (!isGood) {
            throw ApiException.badRequest(message + " (parameter=" + param + ", value=" + value + ")", param);
        }
    }

    /** Returns what the answer must look like according to {@code response_format}, or null if it is text. */
    public static @Nullable Constraint schema(JsonBody format, String path) {
        var type = format.text("type");
        if (type == null || type.equals("text")) {
            return null;
        }
        if (type.equals("json_object")) {
            return Constraint.jsonObject();
        }
        if (type.equals("structural_tag")) {
            throw ApiException.badRequest(
                    "The response format structural_tag is not supported here; use json_schema, json_object or text",
                    path);
        }
        if (!type.equals("json_schema")) {
            throw ApiException.badRequest("Unknown response format " + type, path);
        }
        // Chat completions nest the schema once more than the Responses API.
        var holder = format.get("json_schema") == null ? format : format.object("json_schema");
        return Constraint.json(new SchemaSample(holder.object("schema").node(), holder.at("schema")));
    }
}
