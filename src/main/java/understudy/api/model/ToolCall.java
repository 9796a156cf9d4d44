package understudy.api.model;

import java.util.List;
import java.util.stream.Collectors;
import understudy.api.http.Json;

/**
 * A call of a function, by the model or as it is sent back to it.
 *
 * @param id by which the answer of the function refers to it; empty if it has none
 * @param arguments JSON, word for word
 */
public record ToolCall(String id, String name, String arguments) {

    /** Creates a call that nothing refers to. */
    public ToolCall(String name, String arguments) {
        this("", name, arguments);
    }

    /** Returns the text that stands for this call in a conversation, in the manner of Hermes and Qwen. */
    String text() {
        return head() + arguments + "}\n</tool_call>";
    }

    /** Returns the part of the text in front of the arguments. */
    public String head() {
        return "<tool_call>\n{\"name\": " + Json.write(Json.object().textNode(name)) + ", \"arguments\": ";
    }

    /** Returns the part of the arguments between two positions in the text. */
    public String argumentsBetween(int from, int to) {
        int start = head().length();
        int length = arguments.length();
        int first = Math.max(0, Math.min(length, from - start));
        return arguments.substring(first, Math.max(first, Math.min(length, to - start)));
    }

    static String text(List<ToolCall> calls) {
        return calls.stream().map(ToolCall::text).collect(Collectors.joining("\n"));
    }
}
