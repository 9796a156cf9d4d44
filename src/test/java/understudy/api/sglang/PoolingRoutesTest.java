package understudy.api.sglang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.api.ServerFixture;

/**
 * Vectors and scores as SGLang answers them: {@code EmbeddingResponse}, {@code ScoringResponse} and {@code RerankResponse}
 * of {@code protocol.py}, {@code meta_info} of {@code tokenizer_manager.py}.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class PoolingRoutesTest {
    private static final String GENERATE = "generate";

    private final Map<String, ServerFixture> servers = new HashMap<>();

    private ServerFixture server(String task) {
        return servers.computeIfAbsent(task, name -> {
            var server = new ServerFixture();
            server.moreSettings = """
                engine.kind = sglang
                kv-cache.num-gpu-blocks = auto
                engine.sglang.max-total-tokens = 16000
                """
                    + (name.equals(GENERATE)
                            ? ""
                            : "server { task = " + name + ", embedding-size = 4, num-labels = 3 }");
            return server.start();
        });
    }

    @AfterAll
    void stop() {
        servers.values().forEach(ServerFixture::close);
    }

    private JsonNode answer(String task, String path, String body) {
        var reply = server(task).post(path, body);
        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
        return reply.json();
    }

    @Test
    void embeddings_haveTheShapeOfSglang() {
        var reply =
                server("embed").post("/v1/embeddings", "{\"input\": [[1, 2, 3], [1, 2, 3], [4]], \"model\": \"any\"}");

        assertThat(reply.text().replaceAll("\\[-?0\\.[^]]*]", "[]"))
                .isEqualTo("{\"data\":[{\"embedding\":[],\"index\":0,\"object\":\"embedding\"},"
                        + "{\"embedding\":[],\"index\":1,\"object\":\"embedding\"},"
                        + "{\"embedding\":[],\"index\":2,\"object\":\"embedding\"}],\"model\":\"m\",\"object\":\"list\","
                        // Three tokens, three and one.
                        + "\"usage\":{\"prompt_tokens\":7,\"total_tokens\":7,\"completion_tokens\":0,"
                        + "\"prompt_tokens_details\":null,\"reasoning_tokens\":0}}");
        var data = reply.json().get("data");
        assertThat(data.get(0).get("embedding"))
                .hasSize(4)
                .isEqualTo(data.get(1).get("embedding"));
        assertThat(data.get(2).get("embedding")).isNotEqualTo(data.get(1).get("embedding"));
    }

    /** One text, or a list, of which each answer has a name. */
    @Test
    void encode_hasVectorsWithTheirFigures() {
        var one = answer("embed", "/encode", "{\"input_ids\": [5, 6], \"rid\": \"mine\"}");
        var list = answer("embed", "/encode", "{\"text\": [\"a\"], \"rid\": \"mine\"}");

        assertThat(one.get("embedding")).hasSize(4);
        var meta = one.get("meta_info");
        assertThat(meta.get("id").textValue()).isEqualTo("mine");
        assertThat(meta.get("finish_reason").toString()).isEqualTo("{\"type\":\"length\",\"length\":0}");
        assertThat(meta.get("prompt_tokens").intValue()).isEqualTo(2);
        assertThat(list).hasSize(1);
        assertThat(list.at("/0/meta_info/id").textValue()).isEqualTo("mine_0");
    }

    /** {@code generate_request} of {@code tokenizer_manager.py}; {@code /v1} has the flat body. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/v1/embeddings|{\"input\": \"x\"}|/message",
                "/v1/rerank|{\"query\": \"x\", \"documents\": [\"y\"]}|/message",
                "/encode|{\"text\": \"x\"}|/error/message",
                "/classify|{\"text\": \"x\"}|/error/message"
            })
    void generatingModel_hasNoVectors(String path, String body, String field) {
        var refused = server(GENERATE).post(path, body);

        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.json().at(field).textValue())
                .isEqualTo("This model does not appear to be an embedding model by default. Please add"
                        + " `--is-embedding` when launching the server or try another model.");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/v1/embeddings|{\"input\": \"\"}|Input cannot be empty",
                "/v1/embeddings|{\"input\": [\"a\", \" \"]}|Input at index 1 cannot be empty or whitespace only",
                "/v1/embeddings|{\"input\": [\"a\", 1]}|All items in input list must be strings",
                "/v1/embeddings|{\"input\": \"a\", \"dimensions\": 5}|Provided dimensions are greater than max"
                        + " embedding dimension: 4",
                "/encode|{}|At least one of text, input_ids, or image should be provided",
                "/encode|{\"text\": \"a\", \"input_ids\": [1]}|text and input_ids cannot be provided at the same time",
                "/v1/score|{\"query\": \"a\"}|items must be provided",
                "/v1/score|{\"query\": \"a\", \"items\": [[1]]}|Invalid combination of query/items types",
                "/v1/rerank|{\"query\": \" \", \"documents\": [\"a\"]}|Query cannot be empty or whitespace only",
                "/v1/rerank|{\"query\": \"a\", \"documents\": [\"\"]}|Each document must be a non-empty string"
            })
    void whatMakesNoSense_isRefusedInItsWords(String path, String body, String words) {
        var refused = server("embed").post(path, body);

        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.text()).contains(words);
    }

    /** Best first, at most as many as are asked for. */
    @Test
    void rerank_isAListOfScores() {
        String call = "\"query\": \"q\", \"documents\": [\"a\", \"b\", \"c\"]";
        var all = answer("score", "/v1/rerank", "{" + call + "}");
        var best = answer("score", "/v1/rerank", "{" + call + ", \"top_n\": 1, \"return_documents\": false}");

        assertThat(all).hasSize(3);
        assertThat(all.get(0).get("score").doubleValue())
                .isGreaterThan(all.get(1).get("score").doubleValue());
        for (var each : all) {
            assertThat(each.get("document").textValue())
                    .isEqualTo(String.valueOf("abc".charAt(each.get("index").intValue())));
            assertThat(each.at("/meta_info/prompt_tokens").intValue()).isPositive();
        }
        assertThat(best).hasSize(1);
        assertThat(best.get(0).get("index")).isEqualTo(all.get(0).get("index"));
        assertThat(best.get(0).has("document")).isFalse();
    }

    /** A model that generates tells how likely tokens are behind each pair. */
    @Test
    void scores_areProbabilitiesOfTokens() {
        String call = "\"query\": [1, 2], \"items\": [[3], [4, 5]], \"label_token_ids\": [7, 8]";
        var soft = answer(GENERATE, "/v1/score", "{" + call + ", \"apply_softmax\": true}");
        var plain = answer(GENERATE, "/v1/score", "{" + call + ", \"model\": \"mine\"}");

        assertThat(soft.get("object").textValue()).isEqualTo("scoring");
        assertThat(soft.get("scores")).hasSize(2);
        for (int i = 0; i < 2; i++) {
            var shares = soft.at("/scores/" + i);
            var parts = plain.at("/scores/" + i);
            assertThat(shares).hasSize(2);
            assertThat(shares.get(0).doubleValue() + shares.get(1).doubleValue())
                    .isCloseTo(1, within(1e-6));
            assertThat(parts.get(0).doubleValue() + parts.get(1).doubleValue()).isBetween(0.0, 1.0);
            assertThat(parts.get(0).doubleValue() / parts.get(1).doubleValue())
                    .isCloseTo(shares.get(0).doubleValue() / shares.get(1).doubleValue(), within(1e-5));
        }
        assertThat(plain.get("model").textValue()).isEqualTo("mine");
        // Three tokens and four.
        assertThat(plain.at("/usage/prompt_tokens").intValue()).isEqualTo(7);
    }

    @Test
    void scoresOfNoTokens_areRefused() {
        var refused = server(GENERATE).post("/v1/score", "{\"query\": \"a\", \"items\": \"b\"}");

        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.json().get("message").textValue())
                .isEqualTo("label_token_ids is required for generation (CausalLM) models.");
    }
}
