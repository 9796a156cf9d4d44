package understudy.api.model;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import understudy.api.http.ApiException;
import understudy.api.http.JsonBody;

/**
 * A conversation that is to become a prompt.
 *
 * @param tools definitions of functions, as they came; null if the request has none
 * @param opensAnswer whether the prompt ends with the beginning of an answer
 * @param continuesLast whether the last message is to be continued, and so stays open
 * @param addsSpecialTokens whether to add the tokens that stand around any prompt to those of the template
 * @param variables further variables that a template may read
 */
public record ChatPrompt(
        List<ChatMessage> messages,
        @Nullable List<JsonNode> tools,
        boolean opensAnswer,
        boolean continuesLast,
        boolean addsSpecialTokens,
        ObjectNode variables) {
    private static final List<String> VARIABLES = List.of("documents", "reasoning_effort");

    /** Reads a request's options for its prompt, besides messages and tools; refuses those that vLLM refuses. */
    public static ChatPrompt read(JsonBody body, List<ChatMessage> messages, @Nullable List<JsonNode> tools) {
        boolean continues = body.bool("continue_final_message", false);
        boolean opens = body.bool("add_generation_prompt", !continues);
        if (continues && opens) {
            throw ApiException.badRequest(
                    "Cannot set both `continue_final_message` and `add_generation_prompt` to True.", null);
        }
        return new ChatPrompt(
                messages, tools, opens, continues, body.bool("add_special_tokens", false), variables(body));
    }

    /** Reads a response's options for its prompt, besides messages and tools, which are none if that list is empty. */
    public static ChatPrompt readResponse(JsonBody body, List<ChatMessage> messages, List<JsonNode> tools) {
        var variables = variables(body.without("reasoning_effort"));
        var effort = body.object("reasoning").get("effort");
        if (effort != null) {
            variables.set("reasoning_effort", effort);
        }
        return new ChatPrompt(messages, tools.isEmpty() ? null : tools, true, false, false, variables);
    }

    private static ObjectNode variables(JsonBody body) {
        var given = body.object("chat_template_kwargs");
        if (body.get("chat_template") != null || given.get("chat_template") != null) {
            throw ApiException.badRequest(
                    "Chat template is passed with request, but --trust-request-chat-template is not set."
                            + " Refused request with untrusted chat template.",
                    null);
        }
        var variables = given.node().deepCopy();
        if (variables.has("tokenize")) {
            throw ApiException.badRequest(
                    "Found unexpected chat template kwargs from request: {'tokenize'}", "chat_template_kwargs");
        }
        for (String key : VARIABLES) {
            var value = body.get(key);
            if (value != null) {
                variables.set(key, value);
            }
        }
        return variables;
    }

    /** Returns the definitions of functions that a chat has; null if it has none. */
    public static @Nullable List<JsonNode> tools(JsonBody body) {
        if (body.get("tools") == null) {
            return null;
        }
        var tools = new ArrayList<JsonNode>();
        body.objects("tools").forEach(tool -> tools.add(tool.node()));
        return tools;
    }
}
