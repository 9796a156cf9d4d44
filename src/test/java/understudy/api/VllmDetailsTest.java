package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Corners of chat completions and completions in which clients and tests would notice a difference to vLLM. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class VllmDetailsTest {
    private static final String CHAT = "/v1/chat/completions";
    private static final String COMPLETIONS = "/v1/completions";
    private static final String QUESTION = "\"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]";
    private static final String TOOLS = "\"tools\": [{\"type\": \"function\", \"function\": {\"name\": \"f\"}}]";

    @AutoClose
    private final ServerFixture server = new ServerFixture().start();

    @Test
    void echoWithoutTokens_isThePromptAlone() {
        var answer = server.post(
                        COMPLETIONS,
                        "{\"prompt\": \"hello there\", \"echo\": true, \"max_tokens\": 0, \"logprobs\": 1}")
                .json();

        var choice = answer.get("choices").get(0);
        assertThat(choice.get("text").asText()).isEqualTo("hello there");
        assertThat(choice.get("finish_reason").asText()).isEqualTo("length");
        assertThat(choice.at("/logprobs/tokens")).hasToString("[\"hello\",\" there\"]");
        assertThat(choice.at("/logprobs/token_logprobs")).hasSize(2);
        assertThat(choice.at("/logprobs/token_logprobs/0").isNull()).isTrue();
        assertThat(choice.get("prompt_logprobs")).hasSize(2);
        assertThat(answer.at("/usage/prompt_tokens").asInt()).isEqualTo(2);
        assertThat(answer.at("/usage/completion_tokens").asInt()).isZero();
    }

    @Test
    void echoWithoutTokens_isStreamedInOneChunk() {
        var reply = server.post(
                COMPLETIONS,
                "{\"prompt\": \"hello there\", \"echo\": true, \"max_tokens\": 0, \"stream\": true, \"stop\": [\"e\"],"
                        + " \"stream_options\": {\"include_usage\": true}}");

        assertThat(reply.events()).hasSize(2);
        var choice = reply.events().get(0).at("/choices/0");
        assertThat(choice.get("text").asText()).isEqualTo("hello there");
        assertThat(choice.get("finish_reason").asText()).isEqualTo("length");
        assertThat(reply.events().get(1).at("/usage/completion_tokens").asInt()).isZero();
        assertThat(reply.isDone()).isTrue();
    }

    @Test
    void logprobsOfNone_haveTheSampledToken() {
        var none = server.post(COMPLETIONS, "{\"prompt\": \"x\", \"logprobs\": 0, \"max_tokens\": 1}")
                .json()
                .at("/choices/0/logprobs");
        var three = server.post(COMPLETIONS, "{\"prompt\": \"x\", \"logprobs\": 3, \"max_tokens\": 1}")
                .json()
                .at("/choices/0/logprobs");

        assertThat(none.at("/top_logprobs/0")).hasSize(1);
        assertThat(none.at("/top_logprobs/0").fieldNames().next())
                .isEqualTo(none.at("/tokens/0").asText());
        // vLLM adds the sampled token to the three most likely ones; here it always is the most likely one.
        assertThat(three.at("/top_logprobs/0")).hasSize(3);
    }

    @Test
    void beams_mayBeGreedy() {
        var answer = server.post(
                        COMPLETIONS,
                        "{\"prompt\": \"x\", \"use_beam_search\": true, \"n\": 2, \"temperature\": 0, \"max_tokens\": 3,"
                                + " \"ignore_eos\": true}")
                .json();

        assertThat(answer.get("choices")).hasSize(2);
        assertThat(answer.at("/choices/0/text")).isNotEqualTo(answer.at("/choices/1/text"));
        assertThat(answer.at("/usage/completion_tokens").asInt()).isEqualTo(6);
    }

    /** Each step of the search needs the log probabilities of 2 n tokens, and vLLM allows 20. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            "use_beam_search": true, "n": 11          | logprobs   | Requested sample logprobs of 22, which is greater than max allowed: 20
            "use_beam_search": true, "stream": true   | null       | Streaming is not currently supported with beam search
            "max_tokens": 0                           | max_tokens | max_tokens must be at least 1, got 0.
            "echo": true, "max_tokens": -1            | max_tokens | max_tokens must be at least 1, got -1.
            """)
    void badCompletion_isRefused(String fields, String param, String message) {
        requireRefused(server.post(COMPLETIONS, "{\"prompt\": \"x\", " + fields + "}"), param, message);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            "tools": []                                     | tools                     | `tools` must not be an empty array.
            "tool_choice": "auto"                           | tool_choice               | When using `tool_choice`, `tools` must be set.
            "tool_choice": "required"                       | tool_choice               | When using `tool_choice`, `tools` must be set.
            "tool_choice": {"type": "function"}             | tool_choice               | When using `tool_choice`, `tools` must be set.
            "tool_choice": "some", TOOLS                    | tool_choice               | Invalid value for `tool_choice`: some!
            "tool_choice": {"type": "allowed_tools"}, TOOLS | tool_choice.function      | Invalid value for `function`: `None` in `tool_choice`! Correct usage: `{"type": "function",
            "tool_choice": {"function": {}}, TOOLS          | tool_choice.function.name | Expected field `name` in `function` in `tool_choice`!
            "tool_choice": {"function": {"name": ""}}, TOOLS | tool_choice.function.name | Invalid `name` in `function`: `` in `tool_choice`!
            "tool_choice": {"function": {"name": "g"}}, TOOLS | tool_choice             | does not match any of the specified `tools`
            "tool_choice": {"type": "custom", "function": {"name": "f"}}, TOOLS | body.tool_choice.type | Input should be 'function'
            """)
    void badTools_areRefused(String fields, String param, String message) {
        var reply = server.post(CHAT, "{%s, %s}".formatted(QUESTION, fields.replace("TOOLS", TOOLS)));

        requireRefused(reply, param, message);
    }

    @Test
    void noToolChoice_needsNoTools() {
        var reply = server.post(CHAT, "{%s, \"max_tokens\": 2, \"tool_choice\": \"none\"}".formatted(QUESTION));

        assertThat(reply.status()).isEqualTo(200);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            "auto"                                           | tool_calls
            "required"                                       | tool_calls
            {"type": "function", "function": {"name": "f"}}  | stop
            """)
    void calls_finishForTheirReason(String choice, String reason) {
        String body = "{%s, %s, \"tool_choice\": %s, \"stream\": %s}";

        var whole = server.post(CHAT, body.formatted(QUESTION, TOOLS, choice, false))
                .json();
        var events =
                server.post(CHAT, body.formatted(QUESTION, TOOLS, choice, true)).events();

        assertThat(whole.at("/choices/0/message/tool_calls/0/function/arguments")
                        .asText())
                .isEqualTo("{}");
        assertThat(whole.at("/choices/0/finish_reason").asText()).isEqualTo(reason);
        assertThat(events.get(events.size() - 1).at("/choices/0/finish_reason").asText())
                .isEqualTo(reason);
    }

    @Test
    void rolesOfAllAnswers_comeFirst() {
        var events = server.post(
                        CHAT,
                        "{%s, \"n\": 3, \"max_tokens\": 4, \"stream\": true, \"stream_options\": {\"include_usage\": true}}"
                                .formatted(QUESTION))
                .events();

        for (int i = 0; i < 3; i++) {
            assertThat(events.get(i).at("/choices/0/index").asInt()).isEqualTo(i);
            assertThat(events.get(i).at("/choices/0/delta/role").asText()).isEqualTo("assistant");
        }
        assertThat(events.subList(3, events.size()))
                .noneMatch(event -> event.at("/choices/0/delta").has("role"));
        // Three roles, three answers of four tokens (none of the fixture is shorter), and the usage.
        assertThat(events).hasSize(3 + 3 * 4 + 1);
        assertThat(events.get(15).at("/usage/completion_tokens").asInt()).isEqualTo(12);
    }

    private static void requireRefused(ServerFixture.Reply reply, String param, String message) {
        assertThat(reply.status()).as(reply.text()).isEqualTo(400);
        assertThat(reply.json().at("/error/param").asText()).isEqualTo(param);
        assertThat(reply.json().at("/error/message").asText()).contains(message);
    }
}
