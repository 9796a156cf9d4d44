package understudy.api.pooling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.api.ServerFixture;

/** Pooling models over a real connection. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class PoolingRoutesTest {
    private static final String EMBEDDINGS = "/v1/embeddings";
    private static final int SIZE = 64;

    private final Map<String, ServerFixture> servers = new HashMap<>();

    private ServerFixture server(String task) {
        return servers.computeIfAbsent(task, name -> {
            var server = new ServerFixture();
            server.moreSettings = "server { task = " + name + ", embedding-size = " + SIZE + ", num-labels = 3 }";
            return server.start();
        });
    }

    @AfterAll
    void stop() {
        servers.values().forEach(ServerFixture::close);
    }

    private static double length(JsonNode vector) {
        double squares = 0;
        for (var each : vector) {
            squares += each.asDouble() * each.asDouble();
        }
        return Math.sqrt(squares);
    }

    @Test
    void embeddings_haveTheShapeOfVllm() {
        var reply = server("embed")
                .post(EMBEDDINGS, "{\"input\": [\"Hello\", \"Hello\", \"World\"]}", "X-Request-Id", "abc");

        assertThat(reply.status()).isEqualTo(200);
        assertThat(reply.text()
                        .replaceFirst("\"created\":\\d+", "\"created\":1")
                        .replaceAll("\\[-?0\\.[^]]*]", "[]"))
                .isEqualTo("{\"id\":\"embd-abc\",\"object\":\"list\",\"created\":1,\"model\":\"m\",\"data\":["
                        + "{\"index\":0,\"object\":\"embedding\",\"embedding\":[]},"
                        + "{\"index\":1,\"object\":\"embedding\",\"embedding\":[]},"
                        + "{\"index\":2,\"object\":\"embedding\",\"embedding\":[]}],"
                        + "\"usage\":{\"prompt_tokens\":3,\"total_tokens\":3,\"completion_tokens\":0,"
                        + "\"prompt_tokens_details\":null,\"completion_tokens_details\":null}}");
        var data = reply.json().get("data");
        assertThat(data.get(0).get("embedding"))
                .hasSize(SIZE)
                .isEqualTo(data.get(1).get("embedding"));
        assertThat(data.get(0).get("embedding")).isNotEqualTo(data.get(2).get("embedding"));
        assertThat(length(data.get(0).get("embedding"))).isCloseTo(1, within(1e-5));
    }

    @Test
    void base64_hasTheSameNumbers() {
        var list = server("embed")
                .post(EMBEDDINGS, "{\"input\": \"Hello\"}")
                .json()
                .at("/data/0/embedding");
        var text = server("embed")
                .post(EMBEDDINGS, "{\"input\": \"Hello\", \"encoding_format\": \"base64\"}")
                .json()
                .at("/data/0/embedding")
                .asText();

        var numbers = ByteBuffer.wrap(Base64.getDecoder().decode(text)).order(ByteOrder.LITTLE_ENDIAN);
        for (var each : list) {
            assertThat(numbers.getFloat()).isEqualTo((float) each.asDouble());
        }
        assertThat(numbers.hasRemaining()).isFalse();
    }

    @Test
    void dimensions_cutAndScaleTheVector() {
        var whole = server("embed")
                .post(EMBEDDINGS, "{\"input\": \"Hello\"}")
                .json()
                .at("/data/0/embedding");
        var cut = server("embed")
                .post(EMBEDDINGS, "{\"input\": \"Hello\", \"dimensions\": 8}")
                .json()
                .at("/data/0/embedding");

        assertThat(cut).hasSize(8);
        assertThat(length(cut)).isCloseTo(1, within(1e-5));
        assertThat(cut.get(3).asDouble() / cut.get(0).asDouble())
                .isCloseTo(whole.get(3).asDouble() / whole.get(0).asDouble(), within(1e-4));
    }

    @Test
    void tokensAndConversations_areEmbedded() {
        // The token of "Hello" in cl100k-base is 9906.
        var text = server("embed").post(EMBEDDINGS, "{\"input\": \"Hello\"}").json();
        var ids = server("embed").post(EMBEDDINGS, "{\"input\": [9906]}").json();
        var lists = server("embed")
                .post(EMBEDDINGS, "{\"input\": [[9906], [1, 2]]}")
                .json();
        var chat = server("embed")
                .post(EMBEDDINGS, "{\"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]}")
                .json();

        assertThat(ids.at("/data/0/embedding")).isEqualTo(text.at("/data/0/embedding"));
        assertThat(lists.at("/data/0/embedding")).isEqualTo(text.at("/data/0/embedding"));
        assertThat(lists.at("/usage/prompt_tokens").asInt()).isEqualTo(3);
        assertThat(chat.at("/data/0/embedding")).hasSize(SIZE);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        /v1/embeddings | {} | 'loc': ('body', 'input'), 'msg': 'Field required'
        /v1/embeddings | {"input": []} | cannot be empty
        /v1/embeddings | {"input": [[[1]]]} | Input should be a valid integer
        /v1/embeddings | {"input": {"a": 1}} | Input should be a valid string or list
        /v1/embeddings | {"input": "x", "dimensions": 0} | Dimensions must be greater than 0
        /v1/embeddings | {"input": "x", "dimensions": 65} | only supports up to 64 dimensions
        /v1/embeddings | {"input": "x", "encoding_format": "hex"} | Input should be 'float', 'base64', 'bytes' or 'bytes_only'
        /v1/embeddings | {"input": [99999999]} | out of vocabulary
        /v1/embeddings | {"messages": []} | cannot be empty
        /pooling | {"input": "x", "dimensions": 5} | dimensions is currently not supported
        /pooling | {"input": "x", "task": "classify"} | Unsupported task: 'classify'
        /score | {"text_1": "x"} | 'loc': ('body', 'text_2'), 'msg': 'Field required'
        /score | {"text_1": [], "text_2": "x"} | At least one text element must be given
        /score | {"text_1": "x", "text_2": []} | At least one text_pair element must be given
        /score | {"text_1": ["a", "b"], "text_2": ["a", "b", "c"]} | Input lengths must be either 1:1, 1:N or N:N
        /score | {"text_1": [["a"]], "text_2": "x"} | Input should be a valid string
        /score | {"text_1": {"content": [{"type": "image_url"}]}, "text_2": "x"} | does not support the content part type image_url
        /rerank | {"query": ["a"], "documents": ["b"]} | Input should be a valid string
        /rerank | {"query": "a", "documents": []} | At least one text_pair element must be given
        /rerank | {"documents": []} | 'loc': ('body', 'query'), 'msg': 'Field required'
        """)
    void hostileInput_isRefused(String path, String body, String message) {
        var reply = server("embed").post(path, body);

        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.json().at("/error/message").asText()).contains(message);
    }

    /** Whatever stands in a field: the answer is one, or a refusal. */
    @ParameterizedTest
    @ValueSource(strings = {"/v1/embeddings", "/pooling", "/score", "/v2/rerank"})
    void oddValues_areNoErrorsOfTheServer(String path) {
        String base =
                "\"input\": \"x\", \"text_1\": \"a\", \"text_2\": \"b\", \"query\": \"a\", \"documents\": [\"b\"]";
        var keys = List.of(
                "input text_1 text_2 query documents dimensions encoding_format endianness embed_dtype normalize task"
                        .split(" "));
        var more = List.of(
                "messages top_n truncate_prompt_tokens priority user model request_id use_activation".split(" "));
        var values = List.of(
                "null",
                "-1",
                "1e400",
                "99999999999",
                "\"\"",
                "\"\\ud800\"",
                "[]",
                "[[]]",
                "[[[[]]]]",
                "[null]",
                "{}",
                "[{}]",
                "{\"content\": [5]}",
                "[-1]",
                "[2147483648]",
                "true",
                "[\"a\", 5]");

        for (var list : List.of(keys, more)) {
            for (String key : list) {
                for (String value : values) {
                    var reply = server("embed").post(path, "{" + base + ", \"" + key + "\": " + value + "}");
                    assertThat(reply.status())
                            .as("%s %s: %s", key, value, reply.text())
                            .isIn(200, 400, 404);
                }
            }
        }
    }

    @Test
    void textBeyondTheContext_isRefused() {
        var reply = server("embed").post(EMBEDDINGS, "{\"input\": \"" + "word ".repeat(3000) + "\"}");

        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.text()).contains("maximum context length is 2048 tokens");
    }

    @Test
    void unknownModel_isNotFound() {
        var reply = server("embed").post(EMBEDDINGS, "{\"model\": \"other\", \"input\": \"x\"}");

        assertThat(reply.status()).isEqualTo(404);
        assertThat(reply.text()).contains("The model `other` does not exist.");
    }

    @Test
    void likeness_isOneForEqualTexts() {
        var reply = server("embed").post("/v1/score", "{\"text_1\": \"a\", \"text_2\": [\"a\", \"b\"]}");

        var data = reply.json().get("data");
        assertThat(data.get(0).get("score").asDouble()).isCloseTo(1, within(1e-6));
        assertThat(data.get(1).get("score").asDouble()).isBetween(-0.9, 0.9);
        // Two pairs of two texts of a token each.
        assertThat(reply.json().at("/usage/prompt_tokens").asInt()).isEqualTo(4);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/rerank", "/v1/rerank", "/v2/rerank"})
    void documents_areSortedByTheirScores(String path) {
        String documents = "[\"b\", \"c\", \"d\", \"e\"]";

        var scored = server("score")
                .post("/score", "{\"queries\": \"a\", \"documents\": " + documents + "}")
                .json()
                .get("data");
        var ranked = server("score")
                .post(path, "{\"query\": \"a\", \"documents\": " + documents + ", \"top_n\": 3}")
                .json()
                .get("results");

        assertThat(ranked).hasSize(3);
        double last = 1;
        for (var each : ranked) {
            double score = each.get("relevance_score").asDouble();
            assertThat(score).isBetween(0.0, last);
            assertThat(each.get("relevance_score"))
                    .isEqualTo(scored.get(each.get("index").asInt()).get("score"));
            last = score;
        }
        assertThat(ranked.get(0).at("/document/text").asText())
                .isEqualTo(new String[] {"b", "c", "d", "e"}
                        [ranked.get(0).get("index").asInt()]);
    }

    @Test
    void classes_haveProbabilitiesThatMakeOne() {
        var reply = server("classify").post("/classify", "{\"input\": [\"a\", \"b\"]}");

        var data = reply.json().get("data");
        assertThat(data).hasSize(2);
        for (var each : data) {
            double sum = 0;
            double best = 0;
            for (var probability : each.get("probs")) {
                sum += probability.asDouble();
                best = Math.max(best, probability.asDouble());
            }
            assertThat(sum).isCloseTo(1, within(1e-5));
            int label = Integer.parseInt(each.get("label").asText().substring("LABEL_".length()));
            assertThat(each.get("probs").get(label).asDouble()).isEqualTo(best);
            assertThat(each.get("num_classes").asInt()).isEqualTo(3);
        }
    }

    @Test
    void pooling_givesWhatTheModelHas() {
        var vector = server("embed").post(EMBEDDINGS, "{\"input\": \"Hello\"}").json();
        var pooled = server("embed").post("/pooling", "{\"input\": \"Hello\"}").json();

        assertThat(pooled.at("/data/0/data")).isEqualTo(vector.at("/data/0/embedding"));
        assertThat(pooled.at("/data/0/object").asText()).isEqualTo("pooling");
        assertThat(server("classify")
                        .post("/pooling", "{\"input\": \"Hello\"}")
                        .json()
                        .at("/data/0/data"))
                .hasSize(3);
    }

    /** As with vLLM, a model has the routes of its tasks and no others. */
    @ParameterizedTest
    @CsvSource({
        "embed, /v1/chat/completions, 404",
        "embed, /v1/completions, 404",
        "embed, /v1/messages, 404",
        "embed, /v1/responses, 404",
        "embed, /inference/v1/generate, 404",
        "embed, /classify, 404",
        "embed, /tokenize, 400",
        "classify, /v1/embeddings, 404",
        "classify, /score, 404",
        "score, /v1/embeddings, 404",
        "score, /score, 400",
        "generate, /v1/embeddings, 404",
        "generate, /pooling, 404",
        "generate, /rerank, 404",
        "generate, /v1/chat/completions, 400"
    })
    void model_hasTheRoutesOfItsTask(String task, String path, int status) {
        assertThat(server(task).post(path, "{}").status()).isEqualTo(status);
    }

    @Test
    void answerOfTooManyNumbers_isRefused() {
        var large = new ServerFixture();
        large.moreSettings = "server { task = embed, embedding-size = 65536 }";
        // 2^22 / 65536 = 64 lists of numbers.
        String body = "{\"input\": [" + "\"a\", ".repeat(64) + "\"a\"]}";
        try (large) {
            var reply = large.start().post(EMBEDDINGS, body);

            assertThat(reply.status()).isEqualTo(400);
            assertThat(reply.text()).contains("at most 64 entries");
        }
    }
}
