package understudy.api.openai;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import it.unimi.dsi.fastutil.ints.Int2IntOpenHashMap;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import understudy.api.call.Delta;
import understudy.api.http.Json;
import understudy.api.model.Answer;

/**
 * Finds the parts of a tool call in the text that stands for it, as vLLM's tool parsers do: the name once it is
 * complete, then the arguments as they come. Each answer calls one function.
 */
public final class ToolCallStream {
    private final IntFunction<String> ids;
    private final Int2IntOpenHashMap numChars = new Int2IntOpenHashMap();

    /**
     * Creates a search.
     *
     * @param ids names of the calls, by answer
     */
    public ToolCallStream(IntFunction<String> ids) {
        this.ids = ids;
    }

    /** Returns the field {@code tool_calls} of a message; arguments that were cut off stay cut off. */
    public ArrayNode whole(Answer answer, Delta delta) {
        var call = answer.toolCalls().get(0);
        var calls = Json.array();
        var entry = calls.addObject().put("id", ids.apply(delta.choice())).put("type", "function");
        entry.putObject("function")
                .put("name", call.name())
                .put("arguments", call.argumentsBetween(0, delta.text().length()));
        return calls;
    }

    /** Returns the deltas that a piece of the text leads to; the last piece leads to at least one. */
    public List<ObjectNode> next(Answer answer, Delta delta) {
        var call = answer.toolCalls().get(0);
        int from = numChars.get(delta.choice());
        int to = from + delta.text().length();
        numChars.put(delta.choice(), to);
        var deltas = new ArrayList<ObjectNode>();
        int nameAt = call.head().length();
        if (from < nameAt && to >= nameAt) {
            var entry = entry(deltas).put("id", ids.apply(delta.choice())).put("type", "function");
            entry.put("index", 0).putObject("function").put("name", call.name()).put("arguments", "");
        }
        String arguments = call.argumentsBetween(from, to);
        if (!arguments.isEmpty()) {
            entry(deltas).put("index", 0).putObject("function").put("arguments", arguments);
        }
        if (deltas.isEmpty() && delta.ending() != null) {
            deltas.add(Json.object().put("content", ""));
        }
        return deltas.size() > 1 && delta.ending() != null ? List.of(merged(deltas)) : deltas;
    }

    /** With the end, there is room for one delta only. */
    private static ObjectNode merged(List<ObjectNode> deltas) {
        var merged = deltas.get(0);
        var arguments = deltas.get(1).at("/tool_calls/0/function/arguments").asText();
        ((ObjectNode) merged.at("/tool_calls/0/function")).put("arguments", arguments);
        return merged;
    }

    private static ObjectNode entry(List<ObjectNode> deltas) {
        var delta = Json.object();
        deltas.add(delta);
        return delta.putArray("tool_calls").addObject();
    }
}
