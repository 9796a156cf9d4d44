package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What requests for responses may hold: tools, items of input, and what is refused. */
final class ResponsesRequestTest {
    @AutoClose
    private final ServerFixture server = new ServerFixture().start();

    @Test
    void toolsOfOtherKinds_areRepeatedAndLeftOut() {
        String others = """
            {"type": "web_search"}, {"type": "local_shell"}, {"type": "custom", "name": "c"},
            {"type": "mcp", "server_label": "l", "server_url": "http://h"}, {"type": "image_generation"}\
            """;
        String body = "{\"input\": \"Hello\", \"max_output_tokens\": 4, \"tool_choice\": \"auto\", \"tools\": [%s]}";

        var alone = respond(body.formatted(others));
        var none = respond("{\"input\": \"Hello\", \"max_output_tokens\": 4}");
        var besides = respond(body.formatted(others + ", {\"type\": \"function\", \"name\": \"f\"}"));

        assertThat(alone.get("tools")).hasSize(5);
        assertThat(alone.at("/output/0/type").asText()).isEqualTo("message");
        assertThat(alone.at("/usage/input_tokens")).isEqualTo(none.at("/usage/input_tokens"));
        assertThat(besides.at("/output/0/name").asText()).isEqualTo("f");
        assertThat(respond("{\"input\": \"x\", \"max_output_tokens\": 4, \"tools\": [{\"type\": \"web_search\"}],"
                                + " \"tool_choice\": {\"type\": \"web_search\"}}")
                        .at("/tool_choice/type")
                        .asText())
                .isEqualTo("web_search");
    }

    @Test
    void functionOfANamespace_isCalledByItsOwnName() {
        var response = respond("""
            {"input": "Hello", "tool_choice": {"type": "function", "name": "f"}, "tools": [{"type": "namespace",
             "name": "n", "description": "d", "tools": [{"type": "function", "name": "f"}]}]}\
            """);

        assertThat(response.at("/output/0/name").asText()).isEqualTo("f");
        assertThat(response.at("/output/0/namespace").asText()).isEqualTo("n");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
        "tools": [{"type": "function"}]                 | 'loc': ('body', 'tools', 0, 'name'), 'msg': 'Field required'
        "tools": [{"name": "f"}]                        | 'loc': ('body', 'tools', 0, 'type'), 'msg': 'Field required'
        "tools": [{"type": "web_search"}, 1]            | 'loc': ('body', 'tools', 1), 'msg': 'Input should be a valid dictionary'
        "tool_choice": {"type": "function", "name": "f"}| Tool choice 'function' not found in 'tools' parameter.
        "background": true                              | This vLLM engine does not support `store=True`
        "background": true, "store": false              | background can only be used when `store` is true
        "prompt": {"id": "p"}                           | prompt template is not supported
        "truncation": "some"                            | Input should be 'auto' or 'disabled'
        "service_tier": "x"                             | 'auto', 'default', 'flex', 'scale' or 'priority'
        "include": ["all"]                              | 'loc': ('body', 'include', 0), 'msg': "Input should be
        "text": {"verbosity": "much"}                   | Input should be 'low', 'medium' or 'high'
        "input": [{"type": "web_search_call", "id": "w"}] | Unsupported input item type: web_search_call
        "input": [{"type": "reasoning", "encrypted_content": "e"}] | Encrypted content is not supported.
        """)
    void refusals_haveTheWordsOfVllm(String fields, String words) {
        String input = fields.startsWith("\"input\"") ? "" : "\"input\": \"Hello\", ";

        var reply = server.post("/v1/responses", "{" + input + fields + "}");

        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.json().at("/error/message").asText()).contains(words);
    }

    @Test
    void itemsOfOneTurnOfTheAssistant_areOneMessage() {
        String items = """
            {"input": [{"role": "user", "content": "Hi"}, %s, {"role": "user", "content": "And?"}],
             "max_output_tokens": 4}\
            """;
        // The same as one message of a chat: it thinks, says and calls twice.
        String turn = """
            {"type": "reasoning", "summary": []}, {"type": "message", "role": "assistant", "content": [{"type":
             "output_text", "text": "Let me see."}]}, {"type": "function_call", "call_id": "1", "name": "f",
             "arguments": "{}"}, {"type": "custom_tool_call", "call_id": "2", "name": "g", "input": "x"},
             {"type": "custom_tool_call_output", "call_id": "2", "output": [{"type": "input_text", "text": "y"}]}\
            """;
        String chat = """
            {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Let me see.", "tool_calls":
             [{"function": {"name": "f", "arguments": "{}"}}, {"function": {"name": "g", "arguments":
             "{\\"input\\":\\"x\\"}"}}]}, {"role": "tool", "content": "y"}, {"role": "user", "content": "And?"}],
             "max_tokens": 4}\
            """;

        var response = respond(items.formatted(turn));
        var completion = server.post("/v1/chat/completions", chat).json();

        assertThat(response.at("/usage/input_tokens").asInt())
                .isEqualTo(completion.at("/usage/prompt_tokens").asInt())
                .isGreaterThan(20);
    }

    @Test
    void promptThatIsTooLong_isCutIfItMayBe() {
        String body =
                "{\"input\": \"" + "word ".repeat(3000) + "\", \"max_output_tokens\": 48, \"truncation\": \"%s\"}";

        var refused = server.post("/v1/responses", body.formatted("disabled"));
        var cut = respond(body.formatted("auto"));

        assertThat(refused.status()).isEqualTo(400);
        // 2048 - 48.
        assertThat(cut.at("/usage/input_tokens").asInt()).isEqualTo(2000);
    }

    private JsonNode respond(String body) {
        var reply = server.post("/v1/responses", body);
        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
        return reply.json();
    }
}
