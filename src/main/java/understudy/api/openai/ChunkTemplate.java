package understudy.api.openai;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import com.fasterxml.jackson.databind.node.ObjectNode;
import understudy.api.call.CallFormat;

/**
 * Template of a chunk in which only the text changes from token to token: written once, since building each chunk from
 * scratch is expensive.
 */
final class ChunkTemplate {
    /**
     * Stands for the text. No id or name of a model contains it, and if one did, the last one would still be the text.
     */
    static final String TEXT = "\u0001";

    private static final String WRITTEN_TEXT = "\\u0001";

    private final String head;
    private final String tail;

    /** Takes a chunk in which the last {@link #TEXT} marks the place of the text. */
    ChunkTemplate(ObjectNode chunk) {
        String event = CallFormat.event(chunk);
        int at = event.lastIndexOf(WRITTEN_TEXT);
        head = event.substring(0, at);
        tail = event.substring(at + WRITTEN_TEXT.length());
    }

    /** Returns the chunk with a text, as a server-sent event. */
    String with(String text) {
        var event = new StringBuilder(head.length() + text.length() + tail.length() + 8).append(head);
        JsonStringEncoder.getInstance().quoteAsString(text, event);
        return event.append(tail).toString();
    }
}
