package understudy.api.openai;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import understudy.api.model.ChatMessage;

/**
 * Store of earlier items of conversations, for clients that refer to them by an id and do not send them again. Bounded:
 * what was said first is forgotten first. Thread-safe.
 */
final class ResponseItems {
    /** Characters that a message counts beside its text. */
    private static final int OVERHEAD_CHARS = 200;

    private final long maxChars;
    private final Map<String, List<ChatMessage>> byId = new LinkedHashMap<>();
    private long numChars;

    /**
     * Creates an empty memory.
     *
     * @param maxChars most characters of all messages together
     */
    ResponseItems(long maxChars) {
        this.maxChars = maxChars;
    }

    synchronized void put(String id, List<ChatMessage> messages) {
        forget(id);
        byId.put(id, messages);
        numChars += numChars(messages);
        while (numChars > maxChars) {
            forget(byId.keySet().iterator().next());
        }
    }

    synchronized Optional<List<ChatMessage>> find(String id) {
        return Optional.ofNullable(byId.get(id));
    }

    private void forget(String id) {
        var messages = byId.remove(id);
        numChars -= messages == null ? 0 : numChars(messages);
    }

    private static long numChars(List<ChatMessage> messages) {
        long numChars = 0;
        for (var message : messages) {
            numChars += (long) OVERHEAD_CHARS + message.content().length();
            numChars += message.source().path("tool_call_id").asText().length();
            for (var call : message.toolCalls()) {
                numChars += (long) call.id().length()
                        + call.name().length()
                        + call.arguments().length();
            }
        }
        return numChars;
    }
}
