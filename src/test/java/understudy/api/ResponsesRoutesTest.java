package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Responses over a real connection. */
final class ResponsesRoutesTest {
    @AutoClose
    private final ServerFixture server = new ServerFixture().start();

    @Test
    void responses_goOnFromItemsOfEarlierOnes() {
        String question = "\"Tell me about systems that serve, and about those that do not\"";
        var whole = server.post(
                        "/v1/responses",
                        "{\"model\": \"m\", \"input\": " + question + ", \"max_output_tokens\": 16, \"stream\": false}")
                .json();
        String said = whole.at("/output/0/content/0/text").asText();
        String next = """
                {"model": "m", "max_output_tokens": 16, "input": [{"role": "user", "content": %s}, %s,
                 {"role": "user", "content": "And then?"}]}""";
        String reference = "{\"type\": \"item_reference\", \"id\": \""
                + whole.at("/output/0/id").asText() + "\"}";
        String repeated =
                "{\"role\": \"assistant\", \"content\": " + Json.object().textNode(said) + "}";

        var byReference = server.post("/v1/responses", next.formatted(question, reference))
                .json();
        var bySaying =
                server.post("/v1/responses", next.formatted(question, repeated)).json();

        int numTokens = byReference.at("/usage/input_tokens").asInt();
        // At least the question, the answer, and what was asked then.
        assertThat(numTokens)
                .isEqualTo(bySaying.at("/usage/input_tokens").asInt())
                .isGreaterThan(16 + 10);
        var unknown = server.post(
                "/v1/responses", next.formatted(question, "{\"type\": \"item_reference\", \"id\": \"msg_1\"}"));
        assertThat(unknown.status()).isEqualTo(404);
        assertThat(unknown.json().at("/error/message").asText()).isEqualTo("Item with id 'msg_1' not found.");
    }

    @Test
    void responses_answerInOnePieceAndStreamed() {
        String body = "{\"input\": \"Hello\", \"max_output_tokens\": 5, \"stream\": %s}";

        var whole = server.post("/v1/responses", body.formatted(false)).json();
        var events = server.post("/v1/responses", body.formatted(true)).events();

        assertThat(whole.at("/output/0/content/0/text").asText()).isNotEmpty();
        assertThat(whole.at("/usage/output_tokens").asInt()).isEqualTo(5);
        assertThat(events)
                .extracting(event -> event.get("type").asText())
                .startsWith("response.created", "response.in_progress", "response.output_item.added")
                .contains("response.output_text.delta", "response.output_text.done")
                .endsWith("response.incomplete");
        assertThat(events)
                .extracting(event -> event.get("sequence_number").asInt())
                .isSorted();
    }
}
