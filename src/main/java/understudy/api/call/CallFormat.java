package understudy.api.call;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.apache.pekko.http.javadsl.model.ContentType;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.MediaTypes;
import understudy.api.http.ApiException;
import understudy.api.http.Json;

/** Response format of an API; one instance for each call. */
public interface CallFormat {

    /** Returns the body of an answer that is not streamed; each choice is one piece. */
    JsonNode whole(List<CallEvent.Piece> choices);

    /** Returns the server-sent events for a piece of a streamed answer: none, one or several. */
    String events(Generation generation, Delta delta);

    /** Returns the type of a streamed answer. */
    default ContentType streamType() {
        return EVENT_STREAM;
    }

    /** Returns the text behind the last piece of the last answer. */
    String end();

    /** Returns the text that ends a stream whose answer breaks off. */
    default String failure(ApiException failure) {
        return event(failure.body()) + DONE;
    }

    /** Returns the text for an event of a streamed call. */
    default String text(CallEvent event) {
        if (event instanceof CallEvent.Piece piece) {
            String whole = events(piece.generation(), piece.delta());
            String events = piece.generation().isMalformed(piece.delta()) ? malformed(whole) : whole;
            return piece.isLast() ? events + end() : events;
        }
        return event instanceof CallEvent.Failed failed ? failure(failed.failure()) : "";
    }

    /** The type of server-sent events. */
    ContentType EVENT_STREAM = ContentTypes.create(MediaTypes.TEXT_EVENT_STREAM);

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
    static JsonNode kvTransferParams(List<CallEvent.Piece> choices) {
        var params = choices.get(0).generation().kvTransferParams();
        return params == null ? NullNode.getInstance() : params;
    }
}
