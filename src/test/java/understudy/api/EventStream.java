package understudy.api;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import understudy.api.http.Json;

/**
 * A streamed answer, read strictly: events of an optional line with a name and one line of data, each closed by an empty line.
 *
 * @param isDone whether it ends with {@code [DONE]}, which is not among its events
 */
record EventStream(List<Event> events, boolean isDone) {

    /** One event; the name is empty if it has none. */
    record Event(String name, JsonNode data) {}

    static EventStream parse(String text) {
        var events = new ArrayList<Event>();
        boolean isDone = false;
        if (!text.endsWith("\n\n")) {
            throw new AssertionError("the last event is not complete: " + text);
        }
        for (String block : text.substring(0, text.length() - 2).split("\n\n", -1)) {
            if (isDone) {
                throw new AssertionError("behind the end: " + block);
            }
            isDone = block.equals("data: [DONE]");
            if (!isDone) {
                events.add(event(block));
            }
        }
        return new EventStream(events, isDone);
    }

    private static Event event(String block) {
        var lines = block.split("\n", -1);
        boolean hasName = lines.length == 2 && lines[0].startsWith("event: ");
        String data = lines[lines.length - 1];
        if (lines.length > (hasName ? 2 : 1) || !data.startsWith("data: ")) {
            throw new AssertionError("not an event: " + block);
        }
        return new Event(
                hasName ? lines[0].substring("event: ".length()) : "", Json.read(data.substring("data: ".length())));
    }
}
