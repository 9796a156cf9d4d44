package understudy.api.sglang;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.api.ServerFixture;

/**
 * Ollama's API as SGLang's {@code entrypoints/ollama/protocol.py} has it, the tokens of {@code serving_tokenize.py}, and {@code
 * retrieve_model} of {@code http_server.py}.
 */
final class OllamaRoutesTest {
    private static final String CHAT =
            "{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"one two\"}]";

    @AutoClose
    private static final ServerFixture SERVER = new ServerFixture();

    @BeforeAll
    static void start() {
        SERVER.moreSettings = """
            engine.kind = sglang
            kv-cache.num-gpu-blocks = auto
            engine.sglang.max-total-tokens = 16000
            server.answers = echo
            """;
        SERVER.start();
    }

    private static List<String> fields(JsonNode object) {
        return object.properties().stream().map(Map.Entry::getKey).toList();
    }

    private static List<JsonNode> lines(ServerFixture.Reply reply) {
        return reply.text()
                .lines()
                .map(line -> new ServerFixture.Reply(200, reply.headers(), line).json())
                .toList();
    }

    @Test
    void chat_isAnsweredInLines() {
        var reply = SERVER.post("/api/chat", CHAT + "}");

        assertThat(reply.headers().firstValue("Content-Type").orElse("")).startsWith("application/x-ndjson");
        var lines = lines(reply);
        assertThat(fields(lines.get(0))).containsExactly("model", "created_at", "message", "done", "done_reason");
        var last = lines.get(lines.size() - 1);
        assertThat(last.get("done").booleanValue()).isTrue();
        assertThat(last.get("done_reason").textValue()).isEqualTo("stop");
        var whole = SERVER.post("/api/chat", CHAT + ", \"stream\": false}").json();
        assertThat(lines.stream()
                        .map(line -> line.at("/message/content").textValue())
                        .collect(Collectors.joining()))
                .isEqualTo(whole.at("/message/content").textValue())
                .contains("one two");
    }

    @Test
    void wholeAnswers_haveTheirCounts() {
        var answer = SERVER.post(
                        "/api/generate",
                        "{\"model\": \"m\", \"prompt\": \"one two\", \"stream\": false, \"options\": {\"num_predict\": 3}}")
                .json();

        assertThat(fields(answer))
                .containsExactly(
                        "model",
                        "created_at",
                        "response",
                        "done",
                        "done_reason",
                        "context",
                        "total_duration",
                        "load_duration",
                        "prompt_eval_count",
                        "prompt_eval_duration",
                        "eval_count",
                        "eval_duration");
        assertThat(answer.get("eval_count").intValue()).isEqualTo(3);
        assertThat(answer.get("prompt_eval_count").intValue()).isEqualTo(2);
    }

    /** Ollama's client begins with it. */
    @Test
    void emptyPrompt_isAnsweredAtOnce() {
        var lines = lines(SERVER.post("/api/generate", "{\"model\": \"m\", \"prompt\": \"\"}"));

        assertThat(lines).hasSize(1);
        assertThat(lines.get(0).get("done").booleanValue()).isTrue();
    }

    @Test
    void models_areTold() {
        assertThat(SERVER.get("/api/tags").json().at("/models/0/name").textValue())
                .isEqualTo("m");
        var shown =
                SERVER.post("/api/show", "{\"model\": \"org/Qwen-Instruct\"}").json();
        assertThat(shown.at("/details/family").textValue()).isEqualTo("Qwen");
        assertThat(shown.at("/model_info/Qwen.context_length").intValue()).isEqualTo(ServerFixture.MAX_MODEL_LEN);
        assertThat(SERVER.get("/v1/models/m").json().get("owned_by").textValue())
                .isEqualTo("sglang");
        var unknown = SERVER.get("/v1/models/other");
        assertThat(unknown.status()).isEqualTo(404);
        assertThat(unknown.text())
                .isEqualTo(
                        "{\"error\":{\"message\":\"The model 'other' does not exist\",\"type\":\"invalid_request_error\","
                                + "\"param\":\"model\",\"code\":\"model_not_found\"}}");
    }

    @Test
    void textsAndTokens_areTurnedIntoEachOther() {
        for (String path : List.of("/v1/tokenize", "/tokenize")) {
            var answer = SERVER.post(path, "{\"prompt\": \"one two\"}").json();
            assertThat(fields(answer)).containsExactly("tokens", "count", "max_model_len");
            assertThat(answer.get("count").intValue()).isEqualTo(2);
            String tokens = answer.get("tokens").toString();
            assertThat(SERVER.post("/v1/detokenize", "{\"tokens\": " + tokens + "}")
                            .text())
                    .isEqualTo("{\"text\":\"one two\"}");
            assertThat(SERVER.post("/detokenize", "{\"tokens\": [" + tokens + ", []]}")
                            .text())
                    .isEqualTo("{\"text\":[\"one two\",\"\"]}");
        }
        var lists = SERVER.post("/v1/tokenize", "{\"prompt\": [\"one two\", \"three\"]}")
                .json();
        assertThat(lists.get("count").toString()).isEqualTo("[2,1]");
        var chat = SERVER.post("/v1/tokenize", CHAT + "}").json();
        assertThat(chat.get("count").intValue())
                .isEqualTo(chat.get("tokens").size())
                .isGreaterThan(2);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/v1/tokenize|{}",
                "/v1/tokenize|{\"prompt\": 5}",
                "/v1/tokenize|{\"prompt\": [5]}",
                "/v1/detokenize|{\"tokens\": [99999999]}",
                "/v1/detokenize|{\"tokens\": [[1], 5]}",
                "/api/chat|{\"model\": \"m\"}",
                "/api/generate|{\"model\": \"m\", \"prompt\": \"x\", \"options\": {\"top_p\": 0}}"
            })
    void nonsense_isRefused(String path, String body) {
        assertThat(SERVER.post(path, body).status()).isEqualTo(400);
    }
}
