package understudy.api.call;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.api.http.Json;

/** A template writes what the tree would. */
final class ChunkTemplateTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " word",
                "\"quoted\" \\ \n\t",
                "\u0001",
                "\u0000\u001f\u007f",
                "\u00e9\u20ac\ud83d\ude00",
                "\u2028"
            })
    void chunk_isTheSameAsWrittenFromItsTree(String text) {
        // The mark may occur in a name, too: the last one is the text.
        var template = new ChunkTemplate(CallFormat.event(chunk("m\u0001", ChunkTemplate.TEXT)));

        assertThat(template.with(text)).isEqualTo(CallFormat.event(chunk("m\u0001", text)));
    }

    private static ObjectNode chunk(String model, String text) {
        var chunk = Json.object().put("model", model);
        var choice = chunk.putArray("choices").addObject().put("index", 0);
        choice.putObject("delta").put("content", text);
        choice.putNull("logprobs").putNull("finish_reason");
        return chunk;
    }
}
