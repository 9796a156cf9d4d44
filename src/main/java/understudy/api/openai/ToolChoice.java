package understudy.api.openai;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.api.http.ApiException;
import understudy.api.http.JsonBody;
import understudy.api.model.ChatMessage;
import understudy.api.model.ToolDefinition;

/**
 * Decision whether the model calls a function. If the choice is its own, it calls the first one in answer to a user,
 * and speaks in answer to anything else, so that agents come to an end.
 */
final class ToolChoice {
    private static final String USAGE =
            "Correct usage: `{\"type\": \"function\", \"function\": {\"name\": \"my_function\"}}`";

    private ToolChoice() {}

    /** Refuses choices that vLLM refuses in a chat; the Responses API is more lenient. */
    static void requireValid(JsonBody body) {
        var tools = body.get("tools");
        if (tools != null && tools.isArray() && tools.isEmpty()) {
            throw ApiException.parameter(
                    "`tools` must not be an empty array. Either provide at least one tool or omit the field entirely.",
                    "tools");
        }
        var choice = body.get("tool_choice");
        if (choice == null || "none".equals(choice.textValue())) {
            return;
        }
        if (tools == null) {
            throw unset();
        }
        if (choice.isObject()) {
            requireFunction(body.object("tool_choice"));
        }
    }

    private static void requireFunction(JsonBody choice) {
        var function = choice.get("function");
        if (function == null || !function.isObject()) {
            throw misused("Invalid value for `function`: `" + shown(function) + "` in", "tool_choice.function");
        }
        if (!function.has("name")) {
            throw misused("Expected field `name` in `function` in", "tool_choice.function.name");
        }
        var name = function.get("name");
        if (!name.isTextual() || name.textValue().isEmpty()) {
            throw misused("Invalid `name` in `function`: `" + shown(name) + "` in", "tool_choice.function.name");
        }
        String type = choice.text("type");
        if (type != null && !type.equals("function")) {
            throw ApiException.invalid("Input should be 'function'", choice.at("type"));
        }
    }

    private static ApiException misused(String problem, String param) {
        return ApiException.parameter(problem + " `tool_choice`! " + USAGE, param);
    }

    private static String shown(@Nullable JsonNode value) {
        return value == null || value.isNull() ? "None" : value.isTextual() ? value.textValue() : value.toString();
    }

    /** Returns whether the call names a function, or demands that there be one: then it goes before all else. */
    static boolean isForced(JsonBody body) {
        var choice = body.get("tool_choice");
        return isNamed(body) || (choice != null && "required".equals(choice.textValue()));
    }

    /** Returns whether the call names the function. */
    static boolean isNamed(JsonBody body) {
        var choice = body.get("tool_choice");
        return choice != null && choice.isObject();
    }

    /** Returns whether the model is to be told of the functions. */
    static boolean areShown(JsonBody body) {
        var choice = body.get("tool_choice");
        return choice == null || !"none".equals(choice.textValue());
    }

    /** Returns the function that is called, or null. */
    static @Nullable ToolDefinition choose(JsonBody body, List<ToolDefinition> tools, List<ChatMessage> messages) {
        var choice = body.get("tool_choice");
        if (choice != null && choice.isObject()) {
            var holder = body.object("tool_choice");
            var function = holder.get("function") == null ? holder : holder.object("function");
            return named(function.text("name"), tools);
        }
        String word = choice == null ? "auto" : String.valueOf(choice.textValue());
        return switch (word) {
            case "none" -> null;
            case "auto" -> !tools.isEmpty() && isAskedByUser(messages) ? tools.get(0) : null;
            case "required" -> required(tools);
            default ->
                throw ApiException.parameter(
                        "Invalid value for `tool_choice`: " + word
                                + "! Only named tools, \"none\", \"auto\" or \"required\" are supported.",
                        "tool_choice");
        };
    }

    private static ToolDefinition required(List<ToolDefinition> tools) {
        if (tools.isEmpty()) {
            throw unset();
        }
        return tools.get(0);
    }

    private static ApiException unset() {
        return ApiException.parameter("When using `tool_choice`, `tools` must be set.", "tool_choice");
    }

    private static ToolDefinition named(@Nullable String name, List<ToolDefinition> tools) {
        required(tools);
        return tools.stream()
                .filter(tool -> tool.name().equals(name))
                .findFirst()
                .orElseThrow(() -> ApiException.parameter(
                        "The tool specified in `tool_choice` does not match any of the specified `tools`",
                        "tool_choice"));
    }

    /** Returns whether the user asks last; text right behind the answer of a tool belongs to that answer. */
    private static boolean isAskedByUser(List<ChatMessage> messages) {
        int last = messages.size() - 1;
        return last >= 0
                && messages.get(last).role().equals("user")
                && (last == 0 || !messages.get(last - 1).role().equals("tool"));
    }
}
