package understudy.api.call;

import com.fasterxml.jackson.core.io.JsonStringEncoder;

/**
 * Template of a chunk in which only the text changes from token to token: written once, since building each chunk from
 * scratch is expensive.
 */
public final class ChunkTemplate {
    /**
     * Stands for the text. No id or name of a model contains it, and if one did, the last one would still be the text.
     */
    public static final String TEXT = "\u0001";

    private static final String WRITTEN_TEXT = "\\u0001";

    private final String head;
    private final String tail;

    /** Takes a chunk as an event, in which the last {@link #TEXT} marks the place of the text. */
    public ChunkTemplate(String event) {
        int at = event.lastIndexOf(WRITTEN_TEXT);
        head = event.substring(0, at);
        tail = event.substring(at + WRITTEN_TEXT.length());
    }

    /** Returns the chunk with a text, as a server-sent event. */
    public String with(String text) {
        var event = new StringBuilder(head.length() + text.length() + tail.length() + 8).append(head);
        JsonStringEncoder.getInstance().quoteAsString(text, event);
        return event.append(tail).toString();
    }
}
