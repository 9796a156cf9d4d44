package understudy.api.openai;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import understudy.api.http.ApiException;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;
import understudy.api.model.ChatMessage;
import understudy.api.model.ToolDefinition;

/**
 * The functions among the tools of a response, with those of namespaces under flat names. There is nothing here that
 * could run a search or a shell, so tools of other kinds are left out, as vLLM does ({@code
 * iter_response_function_tool_dicts}).
 */
final class ResponseTools {
    private static final String SEPARATOR = "__";

    private final List<ToolDefinition> functions = new ArrayList<>();
    private final List<JsonNode> shown = new ArrayList<>();
    private final Map<String, String> namespaces = new HashMap<>();
    private final JsonBody choice;

    /** Reads the fields {@code tools} and {@code tool_choice}. */
    ResponseTools(JsonBody body) {
        for (var tool : body.objects("tools")) {
            String type = type(tool);
            if (type.equals("function")) {
                add(tool, name(tool));
            } else if (type.equals("namespace")) {
                addNamespace(tool);
            }
        }
        choice = choice(body);
    }

    /** Returns the flat name of a function of a namespace. */
    static String flatName(String namespace, String name) {
        return namespace + SEPARATOR + name;
    }

    private void addNamespace(JsonBody namespace) {
        for (var tool : namespace.objects("tools")) {
            if (type(tool).equals("function")) {
                String flat = flatName(name(namespace), name(tool));
                namespaces.put(flat, name(namespace));
                add(tool, flat);
            }
        }
    }

    private static String type(JsonBody tool) {
        tool.require("type");
        return String.valueOf(tool.text("type"));
    }

    private static String name(JsonBody tool) {
        tool.require("name");
        return String.valueOf(tool.text("name"));
    }

    private void add(JsonBody tool, String name) {
        var schema = tool.object("parameters").node();
        ToolDefinition.requireSchema(schema, tool.at("parameters"));
        functions.add(new ToolDefinition(name, schema));
        // The model is told of it as in a chat.
        var function = tool.node().deepCopy().put("name", name);
        function.remove("type");
        var nested = Json.object().put("type", "function");
        nested.set("function", function);
        shown.add(nested);
    }

    /** Returns the choice in terms of chat completions; a tool that is no function cannot be insisted on. */
    private JsonBody choice(JsonBody body) {
        var chat = Json.object();
        var given = body.get("tool_choice");
        if (!functions.isEmpty()) {
            chat.putArray("tools").addAll(shown);
        }
        if (given instanceof ObjectNode) {
            var holder = body.object("tool_choice");
            if ("function".equals(holder.text("type"))) {
                chat.set("tool_choice", named(holder));
            }
        } else if (given != null && !"auto".equals(body.text("tool_choice"))) {
            chat.set("tool_choice", given);
        }
        return new JsonBody(chat);
    }

    private ObjectNode named(JsonBody holder) {
        String name = name(holder);
        var flat = functions.stream()
                .map(ToolDefinition::name)
                .filter(each -> each.equals(name) || each.endsWith(SEPARATOR + name))
                .findFirst()
                .orElseThrow(() -> ApiException.badRequest(
                        "Tool choice 'function' not found in 'tools' parameter.", "tool_choice"));
        var chat = Json.object().put("type", "function");
        chat.putObject("function").put("name", flat);
        return chat;
    }

    /** Returns the function that the model calls, or null. */
    @Nullable ToolDefinition choose(List<ChatMessage> messages) {
        return ToolChoice.choose(choice, functions, messages);
    }

    List<JsonNode> shown() {
        return ToolChoice.areShown(choice) ? shown : List.of();
    }

    /** Returns the namespace of a function, or null. */
    @Nullable String namespaceOf(String flatName) {
        return namespaces.get(flatName);
    }

    /** Returns the name of a function within its namespace. */
    String nameOf(String flatName) {
        String namespace = namespaces.get(flatName);
        return namespace == null ? flatName : flatName.substring(namespace.length() + SEPARATOR.length());
    }
}
