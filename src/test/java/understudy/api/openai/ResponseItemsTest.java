package understudy.api.openai;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import understudy.api.model.ChatMessage;

final class ResponseItemsTest {

    @Test
    void oldestItems_areForgottenFirst() {
        // Each item counts 200 characters and its own: two of 300 fit into 1000, as does a third one of 200.
        var items = new ResponseItems(1000);
        items.put("a", said(100));
        items.put("b", said(100));
        items.put("c", said(200));
        assertThat(items.find("a")).contains(said(100));

        items.put("d", said(0));

        assertThat(items.find("a")).isEmpty();
        assertThat(items.find("b")).isPresent();
        items.put("e", said(801));
        assertThat(items.find("e")).as("longer than all that is kept").isEmpty();
    }

    @Test
    void replacedItem_countsOnce() {
        var items = new ResponseItems(1000);
        for (int i = 0; i < 10; i++) {
            items.put("a", said(300));
        }
        items.put("b", said(300));

        assertThat(items.find("a")).isPresent();
    }

    private static List<ChatMessage> said(int length) {
        return List.of(new ChatMessage("assistant", "x".repeat(length), List.of()));
    }
}
