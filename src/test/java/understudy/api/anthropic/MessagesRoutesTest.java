package understudy.api.anthropic;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.api.ServerFixture;
import understudy.api.http.Json;

/** The Messages API over a real connection; answers repeat the last message. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class MessagesRoutesTest {
    private static final String MESSAGES = "/v1/messages";
    private static final String STREAM = "\"stream\": true";
    private static final String WEATHER = """
        "tools": [{"name": "weather", "description": "Weather", "input_schema": {
          "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}]\
        """;

    @AutoClose
    private final ServerFixture server = echoing();

    private static ServerFixture echoing() {
        var server = new ServerFixture();
        server.moreSettings = "server.answers=echo";
        return server.start();
    }

    /** The body of a message in answer to a text; later fields replace earlier ones. */
    private static String body(String text, String... more) {
        var body = Json.object().put("model", "m").put("max_tokens", 50);
        body.putArray("messages").addObject().put("role", "user").put("content", text);
        for (String fields : more) {
            body.setAll((ObjectNode) Json.read("{" + fields + "}"));
        }
        return body.toString();
    }

    private ServerFixture.Reply post(String body) {
        return server.post(MESSAGES, body);
    }

    /** Tokens of a conversation, as vLLM's tokenizer call counts them. */
    private int numTokens(String chat) {
        return server.post("/tokenize", chat).json().get("count").asInt();
    }

    @Test
    void message_inOnePiece() {
        var reply = server.post(MESSAGES, body("one two three"), "X-Request-Id", "call-7");

        // Three words, and the token that ends the answer.
        int numPrompt = numTokens("{\"messages\": [{\"role\": \"user\", \"content\": \"one two three\"}]}");
        assertThat(reply.status()).isEqualTo(200);
        assertThat(reply.text()).isEqualTo("""
            {"id":"chatcmpl-call-7","type":"message","role":"assistant",\
            "content":[{"type":"text","text":"one two three"}],"model":"m","stop_reason":"end_turn",\
            "usage":{"input_tokens":%d,"output_tokens":4,\
            "cache_creation_input_tokens":0,"cache_read_input_tokens":0}}\
            """.formatted(numPrompt));
    }

    @Test
    void message_streamed() {
        var reply = server.post(MESSAGES, body("four five", STREAM), "X-Request-Id", "call-8");

        int numPrompt = numTokens("{\"messages\": [{\"role\": \"user\", \"content\": \"four five\"}]}");
        assertThat(reply.headers().firstValue("content-type").orElseThrow()).startsWith("text/event-stream");
        assertThat(reply.text()).isEqualTo("""
            event: message_start
            data: {"type":"message_start","message":{"id":"chatcmpl-call-8","type":"message","role":"assistant",\
            "content":[],"model":"m","stop_reason":null,"stop_sequence":null,\
            "usage":{"input_tokens":%d,"output_tokens":0}}}

            event: content_block_start
            data: {"type":"content_block_start","content_block":{"type":"text","text":""},"index":0}

            event: content_block_delta
            data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"four"},"index":0}

            event: content_block_delta
            data: {"type":"content_block_delta","delta":{"type":"text_delta","text":" five"},"index":0}

            event: content_block_stop
            data: {"type":"content_block_stop","index":0}

            event: message_delta
            data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},\
            "usage":{"input_tokens":%d,"output_tokens":3,\
            "cache_creation_input_tokens":0,"cache_read_input_tokens":0}}

            event: message_stop
            data: {"type":"message_stop"}

            """.formatted(numPrompt, numPrompt));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        "max_tokens": 2                 | max_tokens    |        | one two
        "stop_sequences": [" two", "x"] | stop_sequence | ' two' | one
        "stop_sequences": ["four"]      | end_turn      |        | one two three
        """)
    void stopReason_isMapped(String field, String reason, @Nullable String sequence, String text) {
        var message = post(body("one two three", field)).json();
        var events = post(body("one two three", field, STREAM)).events();

        var ending = events.get(events.size() - 2).get("delta");
        assertThat(message.at("/content/0/text").asText()).isEqualTo(text);
        assertThat(message.get("stop_reason").asText()).isEqualTo(reason);
        assertThat(message.path("stop_sequence").textValue()).isEqualTo(sequence);
        assertThat(ending.get("stop_reason").asText()).isEqualTo(reason);
        assertThat(ending.get("stop_sequence").textValue()).isEqualTo(sequence);
    }

    @Test
    void conversation_hasTheTokensOfTheChat() {
        String messages = """
            {"model": "m", "max_tokens": 5, "system": [
                {"type": "text", "text": "x-anthropic-billing-header: cch=1f"},
                {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
              "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "Hm.", "signature": "s"},
                    {"type": "text", "text": "Let me see."},
                    {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Ulm"}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "sunny"}]},
                    {"type": "text", "text": "And now?"}]},
                {"role": "system", "content": " Be kind."}],
              %s}\
            """.formatted(WEATHER);
        String chat = """
            {"messages": [
                {"role": "system", "content": "Be brief. Be kind."},
                {"role": "user", "content": "Weather?"},
                {"role": "assistant", "content": "Let me see.", "tool_calls": [{"type": "function",
                    "function": {"name": "weather", "arguments": "{\\"city\\":\\"Ulm\\"}"}}]},
                {"role": "tool", "content": "sunny"},
                {"role": "user", "content": "And now?"}],
              "tools": [{"type": "function", "function": {"name": "weather", "description": "Weather",
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]}\
            """;
        int numPrompt = numTokens(chat);

        var usage = post(messages).json().get("usage");
        var counted = server.post(MESSAGES + "/count_tokens", messages).text();

        // Some of the prompt may be cached by another test.
        assertThat(usage.get("input_tokens").asInt()
                        + usage.get("cache_read_input_tokens").asInt())
                .isEqualTo(numPrompt);
        assertThat(counted)
                .isEqualTo("{\"input_tokens\":%d,\"context_management\":{\"original_input_tokens\":%d}}"
                        .formatted(numPrompt, numPrompt));
    }

    @Test
    void repeatedPrompt_isReadFromTheCache() {
        String text = "a long and winding road ".repeat(10).strip();

        int numPrompt = post(body(text)).json().at("/usage/input_tokens").asInt();
        var again = post(body(text)).json().get("usage");
        var events = post(body(text, STREAM)).events();

        // All full blocks of 16 tokens but those that the last token stands in.
        int numCached = (numPrompt - 1) / 16 * 16;
        assertThat(again.get("cache_read_input_tokens").asInt()).isEqualTo(numCached);
        assertThat(again.get("input_tokens").asInt()).isEqualTo(numPrompt - numCached);
        assertThat(events.get(events.size() - 2).get("usage")).isEqualTo(again);
    }

    @Test
    void tool_isUsedInAnswerToAUser_andNotAfterItsResult() {
        var asked = post(body("Weather?", WEATHER)).json();
        var use = asked.at("/content/0");
        String result = """
            {"model": "m", "max_tokens": 50, %s, "messages": [{"role": "user", "content": "Weather?"},
              {"role": "assistant", "content": [%s]},
              {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "%s", "content": "sunny"},
                {"type": "text", "text": "Thanks."}]}]}\
            """.formatted(WEATHER, use, use.get("id").asText());
        var answered = post(result).json();

        assertThat(asked.get("stop_reason").asText()).isEqualTo("tool_use");
        assertThat(use.get("type").asText()).isEqualTo("tool_use");
        assertThat(use.get("id").asText()).startsWith("chatcmpl-tool-");
        assertThat(use.get("name").asText()).isEqualTo("weather");
        assertThat(use.at("/input/city").isTextual()).isTrue();
        assertThat(answered.at("/content/0/text").asText()).isEqualTo("Thanks.");
        assertThat(answered.get("stop_reason").asText()).isEqualTo("end_turn");
    }

    @Test
    void toolUse_streamed_hasItsInputInPieces() {
        var events = post(body("Weather?", WEATHER, STREAM)).events();

        var start = events.get(1);
        var json = new StringBuilder();
        events.forEach(event -> json.append(event.at("/delta/partial_json").asText("")));
        assertThat(types(events))
                .startsWith("message_start", "content_block_start", "content_block_delta", "content_block_delta")
                .endsWith("content_block_stop", "message_delta", "message_stop");
        assertThat(start.at("/content_block/type").asText()).isEqualTo("tool_use");
        assertThat(start.at("/content_block/input").isEmpty()).isTrue();
        assertThat(Json.read(json.toString()).get("city").isTextual()).isTrue();
        assertThat(events.get(events.size() - 2).at("/delta/stop_reason").asText())
                .isEqualTo("tool_use");
    }

    private static List<String> types(List<JsonNode> events) {
        return events.stream().map(event -> event.get("type").asText()).toList();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        {"type": "auto"}                    | tool_use | tool_use
        {"type": "any"}                     | tool_use | tool_use
        {"type": "tool", "name": "weather"} | tool_use | end_turn
        {"type": "none"}                    | text     | end_turn
        """)
    void toolChoice(String choice, String block, String reason) {
        var message =
                post(body("Weather?", WEATHER, "\"tool_choice\": " + choice)).json();

        // A tool that was named is no reason to stop, for vLLM.
        assertThat(message.at("/content/0/type").asText()).isEqualTo(block);
        assertThat(message.get("stop_reason").asText()).isEqualTo(reason);
    }

    @Test
    void toolUse_cutOff_isText() {
        var message = post(body("Weather?", WEATHER, "\"max_tokens\": 8")).json();

        assertThat(message.at("/content/0/type").asText()).isEqualTo("text");
        assertThat(message.at("/content/0/text").asText()).startsWith("<tool_call>");
        assertThat(message.get("stop_reason").asText()).isEqualTo("max_tokens");
    }

    @Test
    void outputFormat_isFollowed() {
        String format = """
            "output_config": {"format": {"type": "json_schema", "schema": {"type": "object",
              "properties": {"n": {"type": "integer"}}, "required": ["n"]}}}\
            """;

        var text = post(body("x", format)).json().at("/content/0/text").asText();

        assertThat(Json.read(text).get("n").isInt()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        404 | NotFoundError   | "model": "other"   | The model `other` does not exist.
        400 | BadRequestError | "temperature": 9   | temperature must be in [0, 2], got 9.0. (parameter=temperature, value=9.0)
        400 | BadRequestError | "tool_choice": {"type": "any"} | When using `tool_choice`, `tools` must be set. (parameter=tool_choice)
        400 | BadRequestError | "messages": [{"role": "user", "content": [{"type": "image", "source": {}}]}] | Failed to load image: cannot identify image file
        """)
    void error_hasAnthropicsBody(int status, String type, String field, String message) {
        var reply = post(body("x", field));

        assertThat(reply.status()).isEqualTo(status);
        assertThat(reply.text())
                .isEqualTo(
                        "{\"type\":\"error\",\"error\":{\"type\":\"%s\",\"message\":\"%s\"}}".formatted(type, message));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        {"max_tokens": 5, "messages": []}                | body.model: Field required
        {"model": "m", "max_tokens": 5}                  | body.messages: Field required
        {"model": "m", "messages": []}                   | body.max_tokens: Field required
        {"model": "m", "max_tokens": 0, "messages": []}  | body.max_tokens: Value error, max_tokens must be positive
        {"model": "m", "max_tokens": 5, "messages": [{"role": "tool", "content": "x"}]} | body.messages.0.role: Input should be 'user', 'assistant' or 'system'
        {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": 5}]} | body.messages.0.content: Input should be a valid string or list
        {"model": "m", "max_tokens": 5, "messages": [], "tools": [{"name": "a"}]} | body.tools.0.input_schema: Field required
        {"model": "m", "max_tokens": 5, "messages": [], "tool_choice": {"type": "tool"}} | body.tool_choice: Value error, tool_choice.name is required when type is 'tool'
        """)
    void brokenRequest_isRefusedByItsSchema(String body, String problem) {
        var error = post(body).json().get("error");

        // The body is OpenAI's, as vLLM's validation handler has it for all paths.
        int end = problem.indexOf(": ");
        assertThat(error.get("param").asText()).isEqualTo(problem.substring(0, end));
        assertThat(error.get("message").asText())
                .startsWith("1 validation error:\n  {")
                .contains(problem.substring(end + 2));
        assertThat(error.get("code").asInt()).isEqualTo(400);
    }

    @Test
    void unknownBlock_isNamedWithItsPlace() {
        var reply = post("""
            {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": [{"type": "document"}]}]}\
            """);

        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.text())
                .contains(
                        "('body', 'messages', 0, 'content', 0, 'type'), 'msg': \\\"Input should be 'text', 'image', ");
    }

    @Test
    void stream_thatFails_endsWithAnErrorEvent() {
        try (var impatient = new ServerFixture()) {
            // 400 steps of 5 ms each are 2 s.
            impatient.speed = 1;
            impatient.moreSettings = "server.answers=echo, server.request-timeout=500ms";
            impatient.start();

            var reply = impatient.post(MESSAGES, body("road ".repeat(400), STREAM, "\"max_tokens\": 400"));

            assertThat(reply.text()).startsWith("event: message_start\n").endsWith("""
                event: error
                data: {"type":"error","error":{"type":"GatewayTimeout",\
                "message":"The request took longer than PT0.5S."}}

                """);
        }
    }
}
