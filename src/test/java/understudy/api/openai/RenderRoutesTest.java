package understudy.api.openai;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import understudy.api.ServerFixture;

/** What the engine would be sent, over a real connection. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class RenderRoutesTest {
    private static final String CHAT = "/v1/chat/completions/render";
    private static final String COMPLETIONS = "/v1/completions/render";

    @AutoClose
    private final ServerFixture server = new ServerFixture().start();

    @Test
    void chat_hasTheTokensOfTokenize() {
        String conversation = """
                "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello there"}],
                "tools": [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]""";

        var rendered = server.post(
                CHAT, "{\"model\": \"m\", \"temperature\": 0.5, %s}".formatted(conversation), "X-Request-Id", "call-7");
        var tokenized = server.post("/tokenize", "{%s}".formatted(conversation)).json();

        // All of the context that the prompt leaves may be put out.
        int room = ServerFixture.MAX_MODEL_LEN - tokenized.get("count").asInt();
        assertThat(rendered.text()).isEqualTo("""
                {"request_id":"chatcmpl-call-7","token_ids":%s,"assistant_tokens_mask":null,"token_offsets":null,\
                "features":null,"sampling_params":{"temperature":0.5,"max_tokens":%d},"model":"m","stream":false,\
                "stream_options":null,"cache_salt":null,"priority":0,"kv_transfer_params":null}""".formatted(tokenized.get("tokens"), room));
    }

    @Test
    void chat_streamed_keepsItsOptions() {
        var rendered = server.post(CHAT, """
                        {"messages": [{"role": "user", "content": "x"}], "stream": true, "max_tokens": 9,
                         "stream_options": {"include_usage": true}, "cache_salt": "salt"}""").json();

        assertThat(rendered.get("stream").asBoolean()).isTrue();
        assertThat(rendered.get("stream_options")).hasToString("{\"include_usage\":true}");
        assertThat(rendered.at("/sampling_params/max_tokens").asInt()).isEqualTo(9);
        assertThat(rendered.get("cache_salt").asText()).isEqualTo("salt");
    }

    @Test
    void completions_areAListOfPrompts() {
        var one = server.post(COMPLETIONS, "{\"prompt\": \"Hello there\"}").json();
        var two = server.post(COMPLETIONS, "{\"prompt\": [[5, 6, 7], [8]], \"truncate_prompt_tokens\": 2}")
                .json();

        var tokenized =
                server.post("/tokenize", "{\"prompt\": \"Hello there\"}").json();
        assertThat(one).hasSize(1);
        assertThat(one.at("/0/token_ids")).isEqualTo(tokenized.get("tokens"));
        assertThat(one.at("/0/sampling_params/max_tokens").asInt()).isEqualTo(16);
        assertThat(two.at("/0/token_ids")).hasToString("[6,7]");
        assertThat(two.at("/1/token_ids")).hasToString("[8]");
        assertThat(two.at("/1/request_id").asText())
                .startsWith("cmpl-")
                .isNotEqualTo(two.at("/0/request_id").asText());
    }

    @Test
    void calls_areRefusedAsIfTheyWereServed_andNoneIs() {
        var unknown = server.post(CHAT, "{\"model\": \"other\", \"messages\": []}");
        var tooLong = server.post(COMPLETIONS, "{\"prompt\": \"x\", \"max_tokens\": 2048}");
        var beams = server.post(CHAT, "{\"messages\": [], \"use_beam_search\": true}");

        assertThat(unknown.status()).isEqualTo(404);
        assertThat(tooLong.json().at("/error/message").asText())
                .startsWith("This model's maximum context length is 2048 tokens.");
        assertThat(beams.json().at("/error/message").asText())
                .isEqualTo("Beam search is not supported by the render endpoint");
        assertThat(server.metric("vllm:request_success_total", "")).isZero();
    }
}
