package understudy.api.call;

import io.soabase.recordbuilder.core.RecordBuilder;
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
 * @param streamInterval tokens of a chunk behind the first one
 * @param seed as asked for, or null
 * @param user name of the user, in the client's words, or empty
 * @param namesTokensById whether log probabilities name tokens by their ids
 * @param tokens tokens that may be sampled, and those to report on
 * @param kvTransferParams the call's KV transfer parameters, see {@link KvTransferFields}
 * @param bootstrap the call's rooms, see {@link BootstrapRooms}
 * @param truncatePrompt tokens to keep of the prompt, from its end, or 0 for all
 */
@RecordBuilder
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
        int streamInterval,
        boolean includesUsage,
        boolean continuousUsage,
        int priority,
        String user,
        String cacheSalt,
        @Nullable Long seed,
        boolean isGreedy,
        int numLogprobs,
        int numPromptLogprobs,
        boolean namesTokensById,
        boolean returnsTokenIds,
        boolean skipsSpecialTokens,
        TokenWishes tokens,
        JsonBody kvTransferParams,
        BootstrapRooms bootstrap,
        int truncatePrompt) {
    /** Number of log probabilities that stands for those of all tokens. */
    public static final int WHOLE_VOCABULARY = Integer.MAX_VALUE;

    private static final int MAX_N = 16384;
    private static final int MAX_LOGPROBS = 20;
    private static final String PROMPT_LOGPROBS = "prompt_logprobs";

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
        boolean streams = body.bool("stream", false);
        var stream = streamOptions(body, streams);
        boolean isGreedy = checkSampling(body);
        check(minTokens >= 0, "min_tokens must be greater than or equal to 0, got " + minTokens + ".");
        check(
                maxTokens == null || minTokens <= maxTokens,
                "min_tokens must be less than or equal to max_tokens=" + maxTokens + ", got " + minTokens + ".");
        check(!stops.contains(""), "stop cannot contain an empty string.");
        requireAtMost("sample", "logprobs", logprobs);
        int promptLogprobs = promptLogprobs(body, streams, logprobs);
        checkTypes(body);
        return GenerationParamsBuilder.builder()
                .model(body.text("model"))
                .n(body.bool("use_beam_search", false) ? numBeams(body) : n(body, isGreedy))
                .maxTokens(maxTokens)
                .minTokens(minTokens)
                .ignoresEos(body.bool("ignore_eos", false))
                .stops(stops)
                .includesStop(body.bool("include_stop_str_in_output", false))
                .stopTokenIds(new IntOpenHashSet(body.tokens("stop_token_ids")))
                .streams(streams)
                .streamInterval(streamInterval(body))
                .includesUsage(stream.bool("include_usage", false))
                .continuousUsage(stream.bool("include_usage", false) && stream.bool("continuous_usage_stats", false))
                .priority(body.integer("priority", 0))
                .user(Objects.requireNonNullElse(body.text("user"), ""))
                .cacheSalt(salt(body))
                .seed(body.integer("seed"))
                .isGreedy(isGreedy)
                .numLogprobs(logprobs)
                .numPromptLogprobs(promptLogprobs)
                .namesTokensById(body.bool("return_tokens_as_token_ids", false))
                .returnsTokenIds(body.bool("return_token_ids", false))
                .skipsSpecialTokens(body.bool("skip_special_tokens", true))
                .tokens(TokenWishes.read(body, logprobs))
                .kvTransferParams(body.object("kv_transfer_params"))
                .bootstrap(BootstrapRooms.read(body))
                .truncatePrompt(truncation(body))
                .build();
    }

    private static @Nullable Integer maxTokens(JsonBody body, List<String> keys, @Nullable Integer otherwise) {
        for (String key : keys) {
            if (body.get(key) != null) {
                int value = body.integer(key, 0);
                if (value < 1) {
                    // Whatever its name in the request, vLLM's sampling parameters have one only.
                    String name = key.equals("max_completion_tokens") ? "max_tokens" : key;
                    throw ApiException.parameter(name + " must be at least 1, got " + value + ".", name, value);
                }
                return value;
            }
        }
        return otherwise;
    }

    private static JsonBody streamOptions(JsonBody body, boolean streams) {
        var options = body.object("stream_options");
        if (!options.node().isEmpty() && !streams) {
            throw ApiException.parameter("Stream options can only be defined when `stream=True`.", "stream_options");
        }
        return options;
    }

    private static int streamInterval(JsonBody body) {
        int interval = body.integer("stream_interval", 1);
        if (interval < 1) {
            throw ApiException.invalid("Input should be greater than or equal to 1", body.at("stream_interval"));
        }
        return interval;
    }

    private static String salt(JsonBody body) {
        var salt = body.get("cache_salt");
        if (salt != null && (!salt.isTextual() || salt.textValue().isEmpty())) {
            throw ApiException.parameter(
                    "Parameter 'cache_salt' must be a non-empty string if provided.", "cache_salt");
        }
        return salt == null ? "" : salt.textValue();
    }

    /** Returns how many log probabilities a field asks for, which must not be a text, or -1 for none. */
    public static int countOfLogprobs(JsonBody body, String key) {
        var value = body.get(key);
        if (value != null && value.isTextual()) {
            throw ApiException.parameter("`" + key + "` must be an integer.", key, value.textValue());
        }
        int count = body.integer(key, -2);
        if (value != null && count < -1) {
            throw ApiException.parameter("`" + key + "` must be a positive value or -1.", key, count);
        }
        return value == null ? -1 : count == -1 ? WHOLE_VOCABULARY : count;
    }

    /** Returns how many are wanted for the prompt; one that is repeated in the answer has what the answer has. */
    private static int promptLogprobs(JsonBody body, boolean streams, int logprobs) {
        int count = countOfLogprobs(body, PROMPT_LOGPROBS);
        if (streams && count > 0) {
            throw ApiException.parameter("`prompt_logprobs` are not available when `stream=True`.", PROMPT_LOGPROBS);
        }
        requireAtMost("prompt", PROMPT_LOGPROBS, count);
        return body.get(PROMPT_LOGPROBS) == null && body.bool("echo", false) ? logprobs : count;
    }

    private static void requireAtMost(String what, String param, int count) {
        if (count > MAX_LOGPROBS && count != WHOLE_VOCABULARY) {
            throw tooManyLogprobs(what, param, count);
        }
    }

    private static ApiException tooManyLogprobs(String what, String param, int count) {
        return ApiException.parameter(
                "Requested " + what + " logprobs of " + count + ", which is greater than max allowed: " + MAX_LOGPROBS,
                param,
                count);
    }

    /** Refuses log probabilities of all tokens, which are more than may be. */
    public void requireFewLogprobs(int vocabularySize) {
        if (numLogprobs == WHOLE_VOCABULARY) {
            throw tooManyLogprobs("sample", "logprobs", vocabularySize);
        }
        if (numPromptLogprobs == WHOLE_VOCABULARY) {
            throw tooManyLogprobs("prompt", PROMPT_LOGPROBS, vocabularySize);
        }
    }

    private static int n(JsonBody body, boolean isGreedy) {
        int n = body.integer("n", 1);
        check(n >= 1, "n must be at least 1, got " + n + ".");
        check(
                n <= MAX_N,
                "n must be at most " + MAX_N + ", got " + n
                        + ". To increase this limit, set the VLLM_MAX_N_SEQUENCES environment variable.");
        check(n == 1 || !isGreedy, "n must be 1 when using greedy sampling, got " + n + ".");
        return n;
    }

    /** Each step of a beam search looks at twice as many tokens as there are beams. */
    private static int numBeams(JsonBody body) {
        int n = n(body, false);
        requireAtMost("sample", "logprobs", 2 * n);
        return n;
    }

    private static int truncation(JsonBody body) {
        int truncation = body.integer("truncate_prompt_tokens", 0);
        if (truncation < -1) {
            throw ApiException.parameter(
                    "truncate_prompt_tokens must be at least -1, got " + truncation + ".",
                    "truncate_prompt_tokens",
                    truncation);
        }
        return Math.max(0, truncation);
    }

    /** Refuses fields without effect here that vLLM's schema refuses. */
    private static void checkTypes(JsonBody body) {
        body.requireOneOf("truncation_side", List.of("left", "right"));
        for (var extra : body.object("vllm_xargs").node().properties()) {
            var value = extra.getValue();
            boolean isScalar = value.isTextual() || value.isNumber() || value.isBoolean();
            if (!isScalar && !value.isArray()) {
                throw ApiException.invalid(
                        "Input should be a valid string", body.at("vllm_xargs") + "." + extra.getKey());
            }
        }
    }

    /** Checks fields that have no effect on a model that does not sample; returns whether sampling would be greedy. */
    private static boolean checkSampling(JsonBody body) {
        inRange(body, "presence_penalty", -2, 2);
        inRange(body, "frequency_penalty", -2, 2);
        double repetition = orElse(body.number("repetition_penalty"), 1);
        check(repetition > 0, "repetition_penalty must be greater than zero, got " + repetition + ".");
        double temperature = orElse(body.number("temperature"), 1);
        if (temperature < 0) {
            throw ApiException.parameter(
                    "temperature must be non-negative, got " + temperature + ".", "temperature", temperature);
        }
        if (temperature > 2) {
            throw ApiException.parameter(
                    "temperature must be in [0, 2], got " + temperature + ".", "temperature", temperature);
        }
        double topP = orElse(body.number("top_p"), 1);
        if (topP <= 0 || topP > 1) {
            throw ApiException.parameter("top_p must be in (0, 1], got " + topP + ".", "top_p", topP);
        }
        int topK = body.integer("top_k", 0);
        check(topK >= -1, "top_k must be 0 (disable), or at least 1, got " + topK + ".");
        inRange(body, "min_p", 0, 1);
        return temperature < 1e-5;
    }

    private static void inRange(JsonBody body, String key, int min, int max) {
        var value = body.number(key);
        check(
                value == null || (value >= min && value <= max),
                key + " must be in [" + min + ", " + max + "], got " + value + ".");
    }

    private static double orElse(@Nullable Double value, double otherwise) {
        return value == null ? otherwise : value;
    }

    /** vLLM does not name the field where its sampling parameters check themselves. */
    private static void check(boolean isGood, String message) {
        if (!isGood) {
            throw ApiException.badRequest(message, null);
        }
    }

    /** Returns the form of the answer that {@code response_format} asks for, or null if it is text. */
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
