package understudy.api.openai;

import java.util.ArrayList;
import java.util.List;
import understudy.api.model.ChatMessage;

/**
 * Record of a response for later ones that continue it.
 *
 * @param items messages of single items
 * @param responses conversations up to and with each response
 * @param conversation conversation that this response answers, without instructions, which hold for one response only
 */
record ResponseMemory(ResponseItems items, ResponseItems responses, List<ChatMessage> conversation) {

    /** Remembers the answer, under its own id and that of the response. */
    void answered(String responseId, String itemId, ChatMessage answer) {
        items.put(itemId, List.of(answer));
        var whole = new ArrayList<>(conversation);
        whole.add(answer);
        responses.put(responseId, whole);
    }
}
