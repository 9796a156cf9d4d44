package understudy.api.sglang;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import understudy.api.call.BootstrapRooms;
import understudy.api.http.ApiException;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;

/**
 * A chat completion or a completion in SGLang's words, and the same in vLLM's (SGLang {@code
 * entrypoints/openai/protocol.py}, {@code serving_chat.py}, {@code serving_completions.py}). Fields that SGLang does not know
 * it ignores, so that only those that it knows are handed on.
 *
 * @param call in vLLM's words
 */
record OpenAiRequest(JsonBody call, Asked asked) {
    private static final String DEFAULT_MODEL = "default";
    private static final int COMPLETION_MAX_TOKENS = 16;

    /** Most alternatives of a token that the edge makes up. */
    private static final int MAX_TOP_LOGPROBS = 20;

    private static final String JSON_SCHEMA = "json_schema";
    private static final String TOOL_CHOICE = "tool_choice";

    private static final List<String> OF_CHAT =
            List.of("messages", "tools", TOOL_CHOICE, "chat_template_kwargs", "stream", "user");
    private static final List<String> OF_COMPLETION = List.of("prompt", "stream", "user", "echo", "return_token_ids");

    /** Sampling parameters that have the same names in {@code /generate}. */
    private static final List<String> SAMPLING = List.of(
            "temperature",
            "top_p",
            "top_k",
            "min_p",
            "frequency_penalty",
            "presence_penalty",
            "repetition_penalty",
            "stop",
            "stop_token_ids",
            "regex",
            "ebnf",
            "n",
            "no_stop_trim",
            "ignore_eos",
            "skip_special_tokens",
            "logit_bias");

    private static final Map<String, String> RENAMED = Map.of("min_tokens", "min_new_tokens", "seed", "sampling_seed");

    /** Features that a server has to be started with, by the fields that ask for them. */
    private static final Map<String, String> NOT_CONFIGURED = Map.of(
            "return_hidden_states",
            "The server is not configured to return the hidden states. Please set `--enable-return-hidden-states` to"
                    + " enable this feature.",
            "custom_logit_processor",
            "The server is not configured to enable custom logit processor. Please set"
                    + " `--enable-custom-logit-processor` to enable this feature.");

    /**
     * What a call says of its answers.
     *
     * @param model as asked for, which answers repeat, whatever it is
     * @param rid the call's name, or null
     * @param includesUsage whether a stream ends with its usage
     * @param hasRunningUsage whether each chunk of a stream has that of its answer so far
     * @param returnsPromptIds whether a chat's answers come with the tokens of the prompt
     */
    record Asked(
            String model,
            @Nullable String rid,
            boolean includesUsage,
            boolean hasRunningUsage,
            boolean returnsPromptIds) {
        private static Asked of(JsonBody body) {
            String model = body.text("model");
            var options = body.object("stream_options");
            return new Asked(
                    model == null ? DEFAULT_MODEL : model,
                    rid(body),
                    options.bool("include_usage", false),
                    options.bool("continuous_usage_stats", false),
                    body.bool("return_prompt_token_ids", false));
        }

        /** Returns the name of a call, or null; of a list with one for each prompt, the first is taken. */
        static @Nullable String rid(JsonBody body) {
            var rid = body.get("rid");
            return rid != null && rid.isArray() ? rid.path(0).textValue() : body.text("rid");
        }
    }

    /** Reads and checks a chat completion. */
    static OpenAiRequest chat(JsonBody body, AdapterNames adapters, boolean hasPriorities) {
        body.require("messages");
        if (body.objects("messages").isEmpty()) {
            throw error("Messages cannot be empty.");
        }
        requireTools(body);
        if (body.get("input_ids") != null) {
            throw error("input_ids are not supported here in a chat; use messages, or /generate");
        }
        refuseInStream(body, "return_prompt_token_ids");
        refuseInStream(body, "return_meta_info");
        var call = Json.object();
        OF_CHAT.forEach(key -> put(call, key, body.get(key)));
        putLastMessage(call, body);
        var effort = body.get("reasoning_effort");
        if (effort != null && !effort.isNumber()) {
            call.set("reasoning_effort", effort);
        }
        var sampling = sampling(body);
        Stream.of("max_completion_tokens", "max_tokens")
                .filter(key -> body.integer(key, 0) != 0)
                .findFirst()
                .ifPresent(key -> sampling.put("max_new_tokens", body.integer(key, 0)));
        finish(body, call, sampling, adapters, hasPriorities);
        putTools(call);
        if (body.bool("logprobs", false)) {
            call.put("logprobs", true).put("top_logprobs", top(body.integer("top_logprobs", 0)));
        }
        return new OpenAiRequest(new JsonBody(call), Asked.of(body));
    }

    /** Reads and checks a completion. */
    static OpenAiRequest completion(JsonBody body, AdapterNames adapters, boolean hasPriorities) {
        if (isEmpty(body.require("prompt"))) {
            throw error("Prompt cannot be empty");
        }
        var call = Json.object();
        OF_COMPLETION.forEach(key -> put(call, key, body.get(key)));
        var sampling = sampling(body);
        put(sampling, JSON_SCHEMA, body.get(JSON_SCHEMA));
        int maxTokens = body.integer("max_tokens", COMPLETION_MAX_TOKENS);
        if (maxTokens <= 0) {
            throw ApiException.invalid("Value error, max_tokens must be positive", body.at("max_tokens"));
        }
        sampling.put("max_new_tokens", maxTokens);
        finish(body, call, sampling, adapters, hasPriorities);
        if (body.get("logprobs") != null) {
            call.put("logprobs", top(body.integer("logprobs", 0)));
        }
        return new OpenAiRequest(new JsonBody(call), Asked.of(body));
    }

    private static boolean isEmpty(JsonNode prompt) {
        if (!prompt.isArray()) {
            return prompt.isTextual() && prompt.textValue().isEmpty();
        }
        for (var each : prompt) {
            boolean isNothing = each.isArray()
                    ? each.isEmpty()
                    : each.isTextual() ? each.textValue().isEmpty() : each.asInt() == 0;
            if (!isNothing) {
                return false;
            }
        }
        return true;
    }

    /** As {@code serving_chat.py}, {@code _validate_request}. */
    private static void requireTools(JsonBody body) {
        var choice = body.get(TOOL_CHOICE);
        var tools = body.objects("tools");
        if (choice == null) {
            return;
        }
        if (choice.isTextual()) {
            body.requireOneOf(TOOL_CHOICE, List.of("auto", "required", "none"));
            if (choice.textValue().equals("required") && tools.isEmpty()) {
                throw error("Tools cannot be empty if tool choice is set to required.");
            }
            return;
        }
        if (tools.isEmpty()) {
            throw error("Tools cannot be empty if tool choice is set to a specific tool.");
        }
        String name = body.object(TOOL_CHOICE).object("function").text("name");
        if (tools.stream()
                .noneMatch(tool ->
                        String.valueOf(tool.object("function").text("name")).equals(name))) {
            throw error("Tool '" + name + "' not found in tools list.");
        }
    }

    private static void refuseInStream(JsonBody body, String key) {
        if (body.bool("stream", false) && body.bool(key, false)) {
            throw new ApiException(
                    400,
                    "BadRequest",
                    key + " is not supported with streaming. Please set stream=false when using " + key + "=true.",
                    null);
        }
    }

    /** As {@code _handle_last_assistant_message}: the model's own words at the end are continued, or the user's. */
    private static void putLastMessage(ObjectNode call, JsonBody body) {
        var messages = call.withArray("messages");
        var last = messages.get(messages.size() - 1);
        boolean isOfModel = "assistant".equals(last.path("role").textValue())
                && last.path("content").isTextual();
        if (!isOfModel) {
            return;
        }
        if (body.bool("continue_final_message", false)) {
            call.put("continue_final_message", true);
        } else {
            call.set("messages", messages.deepCopy());
            call.withArray("messages")
                    .set(messages.size() - 1, Json.object().put("role", "user").set("content", last.get("content")));
        }
    }

    /** Without functions there is no choice; a form of the answer that was asked for goes before one. */
    private static void putTools(ObjectNode call) {
        if (call.path("tools").isEmpty()) {
            call.remove(List.of("tools", TOOL_CHOICE));
        } else if (call.has("structured_outputs")) {
            call.remove(TOOL_CHOICE);
        }
    }

    private static ObjectNode sampling(JsonBody body) {
        var sampling = Json.object();
        SAMPLING.forEach(key -> put(sampling, key, body.get(key)));
        RENAMED.forEach((key, name) -> put(sampling, name, body.get(key)));
        return sampling;
    }

    /** Puts what both ways have alike, when all sampling parameters are known. */
    private static void finish(
            JsonBody body, ObjectNode call, ObjectNode sampling, AdapterNames adapters, boolean hasPriorities) {
        BootstrapRooms.copy(body, call);
        var format = body.object("response_format");
        boolean isAnyObject = putFormat(format, sampling);
        var parameters = new JsonBody(sampling);
        SamplingFields.verify(parameters, null);
        NOT_CONFIGURED.forEach((key, message) -> {
            var value = body.get(key);
            if (value != null && !(value.isBoolean() && !value.booleanValue())) {
                throw error(message);
            }
        });
        SamplingFields.copy(parameters, call);
        if (isAnyObject) {
            call.putObject("structured_outputs").put("json_object", true);
        }
        put(call, "max_tokens", sampling.get("max_new_tokens"));
        if (hasPriorities) {
            put(call, "priority", body.get("priority"));
        }
        String salt = text(body, "cache_salt") + text(body, "extra_key");
        if (!salt.isEmpty()) {
            call.put("cache_salt", salt);
        }
        String adapter = adapters.choose(body, body.text("model"));
        if (adapter != null) {
            call.put("model", adapter);
        }
    }

    /** Returns whether the answer may be any object. */
    private static boolean putFormat(JsonBody format, ObjectNode sampling) {
        String type = format.text("type");
        if (type == null || type.equals("text")) {
            return false;
        }
        if (type.equals("structural_tag")) {
            throw error("structural_tag is not supported here; use json_schema, json_object or text");
        }
        format.requireOneOf("type", List.of("text", "json_object", JSON_SCHEMA));
        if (type.equals("json_object")) {
            return true;
        }
        var schema = format.object(JSON_SCHEMA).get("schema");
        if (schema == null) {
            schema = format.get("schema");
        }
        if (schema == null) {
            throw error("schema_ is required for json_schema response format request.");
        }
        sampling.set(JSON_SCHEMA, schema);
        return false;
    }

    private static String text(JsonBody body, String key) {
        var value = body.get(key);
        return value != null && value.isTextual() ? value.textValue() : "";
    }

    private static int top(int asked) {
        return Math.max(0, Math.min(MAX_TOP_LOGPROBS, asked));
    }

    private static void put(ObjectNode node, String key, @Nullable JsonNode value) {
        if (value != null) {
            node.set(key, value);
        }
    }

    private static ApiException error(String message) {
        return ApiException.badRequest(message, null);
    }
}
