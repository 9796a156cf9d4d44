package understudy.api.openai;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.api.call.GenerationParams;
import understudy.api.http.ApiException;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;

/** Checked request fields that a response repeats, in the order of vLLM's {@code ResponsesResponse}. */
final class ResponseEcho {
    private static final String LOGPROBS = "message.output_text.logprobs";
    private static final List<String> INCLUDES = List.of(
            "code_interpreter_call.outputs",
            "computer_call_output.output.image_url",
            "file_search_call.results",
            "message.input_image.image_url",
            LOGPROBS,
            "reasoning.encrypted_content");

    private final ObjectNode fields = Json.object();

    /** Reads the fields that are repeated, and refuses values that vLLM refuses. */
    ResponseEcho(JsonBody body) {
        // Those that come first are filled in by each response.
        fields.putNull("id")
                .putNull("created_at")
                .putNull("incomplete_details")
                .put("instructions", body.text("instructions"));
        fields.set("metadata", object(body, "metadata"));
        fields.putNull("model").put("object", "response").putArray("output");
        addSampling(body);
        fields.put("background", false)
                .putNull("max_output_tokens")
                .put("max_tool_calls", body.integer("max_tool_calls"));
        fields.put("previous_response_id", body.text("previous_response_id")).putNull("prompt");
        fields.set("reasoning", reasoning(body));
        fields.put(
                "service_tier",
                choice(body, "service_tier", "auto", List.of("auto", "default", "flex", "scale", "priority")));
        fields.putNull("status");
        fields.set("text", text(body));
        int numLogprobs = logprobs(body);
        fields.put("top_logprobs", numLogprobs < 0 ? null : Integer.valueOf(numLogprobs))
                .put("truncation", truncates(body) ? "auto" : "disabled")
                .putNull("usage")
                .put("user", body.text("user"))
                .putNull("input_messages")
                .putNull("output_messages")
                .putNull("kv_transfer_params")
                .putNull("ec_transfer_params")
                .putNull("error");
    }

    private void addSampling(JsonBody body) {
        fields.put("parallel_tool_calls", body.bool("parallel_tool_calls", true));
        number(body, "temperature", 1);
        copy(body, "tool_choice", Json.object().textNode("auto"));
        copy(body, "tools", Json.array());
        number(body, "top_p", 1);
        number(body, "presence_penalty", 0);
        number(body, "frequency_penalty", 0);
    }

    /** Returns a response with all fields; those that the request does not say are null. */
    ObjectNode open() {
        return Json.object().setAll(fields);
    }

    /** Returns how many alternatives to report with each token, or -1 for no log probabilities at all. */
    static int logprobs(JsonBody body) {
        var included = body.texts("include");
        for (int i = 0; i < included.size(); i++) {
            requireOneOf(INCLUDES, included.get(i), body.at("include") + "." + i);
        }
        if (!included.contains(LOGPROBS)) {
            return -1;
        }
        return Math.max(0, GenerationParams.countOfLogprobs(body, "top_logprobs"));
    }

    /** Returns whether a prompt that is too long is cut, and not refused. */
    static boolean truncates(JsonBody body) {
        return choice(body, "truncation", "disabled", List.of("auto", "disabled"))
                .equals("auto");
    }

    private void number(JsonBody body, String key, double otherwise) {
        var given = body.number(key);
        fields.put(key, given == null ? otherwise : given);
    }

    private void copy(JsonBody body, String key, JsonNode otherwise) {
        var given = body.get(key);
        fields.set(key, given == null ? otherwise : given);
    }

    private static @Nullable ObjectNode object(JsonBody body, String key) {
        return body.get(key) == null ? null : body.object(key).node();
    }

    private static @Nullable ObjectNode reasoning(JsonBody body) {
        var given = object(body, "reasoning");
        var all = Json.object().putNull("effort").putNull("generate_summary").putNull("summary");
        return given == null ? null : all.setAll(given);
    }

    private static @Nullable ObjectNode text(JsonBody body) {
        if (body.get("text") == null) {
            return null;
        }
        var text = body.object("text");
        var echo = Json.object();
        echo.set("format", format(text));
        var verbosity = text.get("verbosity");
        return echo.put(
                "verbosity",
                verbosity == null ? null : choice(text, "verbosity", "", List.of("low", "medium", "high")));
    }

    private static @Nullable ObjectNode format(JsonBody text) {
        var format = object(text, "format");
        if (format == null || !"json_schema".equals(text.object("format").text("type"))) {
            return format;
        }
        text.object("format").require("name");
        var echo = Json.object();
        for (String key : List.of("name", "schema", "type", "description", "strict")) {
            echo.set(key, format.get(key));
        }
        return echo;
    }

    private static String choice(JsonBody body, String key, String otherwise, List<String> allowed) {
        String given = body.text(key);
        return given == null ? otherwise : requireOneOf(allowed, given, body.at(key));
    }

    private static String requireOneOf(List<String> allowed, String given, String path) {
        if (!allowed.contains(given)) {
            int last = allowed.size() - 1;
            throw ApiException.invalid(
                    "Input should be '" + String.join("', '", allowed.subList(0, last)) + "' or '" + allowed.get(last)
                            + "'",
                    path);
        }
        return given;
    }
}
