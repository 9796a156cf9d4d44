package understudy.api.call;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import understudy.api.http.ApiException;
import understudy.api.http.Json;

/** Response format of an API; one instance for each call. */
public interface CallFormat {

    /** Complete answer in one piece. */
    record Whole(Generation generation, Delta delta) {}

    /** Returns the body of an answer that is not streamed. */
    ObjectNode whole(List<Whole> choices);

    /** Returns what goes out with a piece of a streamed answer: no, one or several server-sent events. */
    String events(Generation generation, Delta delta);

    /** Returns what goes out behind the last piece of the last answer. */
    String end();

    /** Returns what goes out instead, if the answer breaks off. */
    default String failure(ApiException failure) {
        return event(failure.body()) + DONE;
    }

    /** The event behind the last one. */
    String DONE = "data: [DONE]\n\n";

    /** Returns one server-sent event, with the space that many clients insist on. */
    static String event(ObjectNode data) {
        return "data: " + Json.write(data) + "\n\n";
    }

    /** Returns one server-sent event whose name is the field {@code type} of its data. */
    static String namedEvent(ObjectNode data) {
        return "event: " + data.path("type").asText() + "\n" + event(data);
    }

    /** Returns server-sent events, if there are any, of which the last has only the first half of its JSON. */
    static String malformed(String events) {
        if (events.isEmpty()) {
            return events;
        }
        int data = events.lastIndexOf("data: ") + "data: ".length();
        int end = events.length() - "\n\n".length();
        return events.substring(0, data + (end - data) / 2) + "\n\n";
    }

    /** Returns the field {@code kv_transfer_params} of a call whose answers are complete: that of the first, as in vLLM. */
    static JsonNode kvTransferParams(List<Whole> choices) {
        var params = choices.get(0).generation.kvTransferParams();
        return params == null ? NullNode.getInstance() : params;
    }

    /** Returns the usage of a call whose answers are complete. */
    static Usage usage(List<Whole> choices) {
        int numPrompt = 0;
        int numCompletion = 0;
        int numCached = 0;
        for (var choice : choices) {
            var spec = choice.generation.spec();
            var ending = choice.delta.ending();
            numCompletion += choice.delta.toToken();
            if (spec.choice() % spec.params().n() == 0) {
                numPrompt += spec.prompt().length();
                numCached += ending == null ? 0 : ending.numCachedTokens();
            }
        }
        return new Usage(numPrompt, numCompletion, numCached);
    }
}
