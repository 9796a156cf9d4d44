package understudy.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether the model calls a function. If the choice is its own, it calls the first one in answer to a user, and
 * speaks in answer to anything else, so that agents come to an end.
 */
final class ToolChoice {
    private ToolChoice() {}

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
                throw ApiException.badRequest(
                        "Invalid value for `tool_choice`: " + word
                                + "! Only named tools, \"none\", \"auto\" or \"required\" are supported.",
                        "tool_choice");
        };
    }

    private static ToolDefinition required(List<ToolDefinition> tools) {
        if (tools.isEmpty()) {
            throw ApiException.badRequest("When using `tool_choice`, `tools` must be set.", "tool_choice");
        }
        return tools.get(0);
    }

    private static ToolDefinition named(@Nullable String name, List<ToolDefinition> tools) {
        required(tools);
        return tools.stream()
                .filter(tool -> tool.name().equals(name))
                .findFirst()
                .orElseThrow(() -> ApiException.badRequest(
                        "The tool specified in `tool_choice` does not match any of the specified `tools`",
                        "tool_choice"));
    }

    private static boolean isAskedByUser(List<ChatMessage> messages) {
        return !messages.isEmpty() && messages.get(messages.size() - 1).role().equals("user");
    }
}
