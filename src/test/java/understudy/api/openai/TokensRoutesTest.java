package understudy.api.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.api.ServerFixture;
import understudy.api.http.Json;

/** Token ids in and out, and several conversations in one call, over a real connection. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class TokensRoutesTest {
    private static final String GENERATE = "/inference/v1/generate";
    private static final String BATCH = "/v1/chat/completions/batch";

    @AutoClose
    private final ServerFixture server = new ServerFixture().start();

    @Test
    void answer_hasTheShapeOfVllm() {
        var reply = server.post(
                GENERATE,
                "{\"token_ids\": [9, 10, 11], \"sampling_params\": {\"max_tokens\": 2, \"ignore_eos\": true}}",
                "X-Request-Id",
                "abc");

        assertThat(reply.text()
                        .replaceFirst("\"created\":\\d+", "\"created\":1")
                        .replaceFirst("\\[\\d+,\\d+]", "[]"))
                .isEqualTo(
                        "{\"request_id\":\"generate-tokens-abc\",\"model\":\"m\",\"created\":1,\"choices\":[{\"index\":0,"
                                + "\"logprobs\":null,\"finish_reason\":\"length\",\"token_ids\":[],\"stop_reason\":null,"
                                + "\"routed_experts\":null}],\"usage\":{\"prompt_tokens\":3,\"total_tokens\":5,"
                                + "\"completion_tokens\":2,\"prompt_tokens_details\":{\"cached_tokens\":0},"
                                + "\"completion_tokens_details\":null},\"prompt_logprobs\":null,\"prompt_token_ids\":null,"
                                + "\"kv_transfer_params\":null,\"ec_transfer_params\":null,\"metrics\":null}");
    }

    @Test
    void stream_saysTheSameAsTheAnswerInOnePiece() {
        String body =
                "{\"token_ids\": [9, 10, 11], \"stream\": %s, \"sampling_params\": {\"seed\": 3, \"logprobs\": 1}";

        var whole = server.post(GENERATE, body.formatted(false) + "}").json();
        var stream = server.post(GENERATE, body.formatted(true) + ", \"stream_options\": {\"include_usage\": true}}");

        var ids = new ArrayList<Integer>();
        for (var event : stream.events()) {
            event.at("/choices/0/token_ids").forEach(id -> ids.add(id.asInt()));
        }
        var expected = new ArrayList<Integer>();
        whole.at("/choices/0/token_ids").forEach(id -> expected.add(id.asInt()));
        assertThat(ids).isEqualTo(expected).isNotEmpty();
        assertThat(whole.at("/choices/0/logprobs/content").size()).isEqualTo(expected.size());
        var last = stream.events().get(stream.events().size() - 1);
        assertThat(last.at("/usage/completion_tokens").asInt()).isEqualTo(expected.size());
        assertThat(stream.isDone()).isTrue();
    }

    @Test
    void renderedChat_isAnsweredAsTheChatItself() {
        String chat = "{\"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}], \"seed\": 4, \"max_tokens\": 9,"
                + " \"return_token_ids\": true}";

        var rendered =
                (ObjectNode) server.post("/v1/chat/completions/render", chat).json();
        var tokens = server.post(GENERATE, Json.write(rendered)).json();
        var direct = server.post("/v1/chat/completions", chat).json();

        assertThat(tokens.at("/usage/prompt_tokens")).isEqualTo(direct.at("/usage/prompt_tokens"));
        assertThat(tokens.at("/choices/0/token_ids").size())
                .isEqualTo(direct.at("/choices/0/token_ids").size());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        {"sampling_params": {}} | 'loc': ('body', 'token_ids'), 'msg': 'Field required'
        {"token_ids": [1]} | 'loc': ('body', 'sampling_params'), 'msg': 'Field required'
        {"token_ids": [], "sampling_params": {}} | List should have at least 1 item after validation, not 0
        {"token_ids": [-1], "sampling_params": {}} | token_ids must not contain negative values
        {"token_ids": [[1]], "sampling_params": {}} | Input should be a valid integer
        {"token_ids": "abc", "sampling_params": {}} | Input should be a valid list
        {"token_ids": [999999999], "sampling_params": {}} | out of vocabulary
        {"token_ids": [1], "sampling_params": {"max_tokens": 99999}} | maximum context length
        {"token_ids": [1], "sampling_params": {"temperature": -1}} | temperature
        {"token_ids": [1], "sampling_params": []} | Input should be a valid dictionary
        """)
    void hostileTokens_areRefused(String body, String message) {
        var reply = server.post(GENERATE, body);

        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.json().at("/error/message").asText()).contains(message);
    }

    @Test
    void batch_hasAnAnswerForEachConversation() {
        var reply = server.post(BATCH, """
            {"max_tokens": 3, "messages": [[{"role": "user", "content": "Hello"}],
              [{"role": "user", "content": "Hello"}], [{"role": "user", "content": "Hello again, and again"}]]}\
            """);

        assertThat(reply.status()).isEqualTo(200);
        var choices = reply.json().get("choices");
        assertThat(choices).hasSize(3);
        for (int i = 0; i < 3; i++) {
            assertThat(choices.get(i).get("index").asInt()).isEqualTo(i);
            assertThat(choices.get(i).at("/message/content").asText()).isNotEmpty();
        }
        // "Hello" has 9 tokens with what stands around it; "again, and again" adds " again", ",", " and" and " again".
        assertThat(reply.json().at("/usage/prompt_tokens").asInt()).isEqualTo(9 + 9 + 13);
        assertThat(reply.json().at("/usage/completion_tokens").asInt()).isEqualTo(9);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        {} | 'loc': ('body', 'messages'), 'msg': 'Field required'
        {"messages": []} | at least 1 item
        {"messages": [{"role": "user", "content": "x"}]} | Input should be a valid list
        {"messages": [[[[]]]]} | Input should be a valid dictionary
        {"messages": [[{"role": "user", "content": "x"}]], "stream": true} | do not support streaming
        {"messages": [[{"role": "user", "content": "x"}]], "tools": []} | do not support tool use
        {"messages": [[{"role": "user", "content": "x"}]], "n": 2} | do not support n > 1
        """)
    void hostileBatch_isRefused(String body, String message) {
        var reply = server.post(BATCH, body);

        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.json().at("/error/message").asText()).contains(message);
    }
}
