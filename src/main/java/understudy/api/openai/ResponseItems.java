package understudy.api.openai;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import understudy.api.model.ChatMessage;

/**
 * What earlier responses have said, for clients that refer to it by its id and do not send it again. Bounded: what was said
 * first is forgotten first. Thread-safe.
 */
final class ResponseItems {
    /** What an item counts beside its text. */
    private static final int OVERHEAD_CHARS = 200;

    private final long maxChars;
    private final Map<String, ChatMessage> byId = new LinkedHashMap<>();
    private long numChars;

    /**
     * Creates an empty memory.
     *
     * @param maxChars most characters of all items together
     */
    ResponseItems(long maxChars) {
        this.maxChars = maxChars;
    }

    synchronized void put(String id, ChatMessage item) {
        forget(id);
        byId.put(id, item);
        numChars += numChars(item);
        while (numChars > maxChars) {
            forget(byId.keySet().iterator().next());
        }
    }

    synchronized Optional<ChatMessage> find(String id) {
        return Optional.ofNullable(byId.get(id));
    }

    private void forget(String id) {
        var item = byId.remove(id);
        numChars -= item == null ? 0 : numChars(item);
    }

    private static long numChars(ChatMessage item) {
        long numChars = (long) OVERHEAD_CHARS + item.content().length();
        for (var call : item.toolCalls()) {
            numChars += (long) call.name().length() + call.arguments().length();
        }
        return numChars;
    }
}
