package understudy.api.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import understudy.api.ServerFixture;
import understudy.api.http.Json;

/** Chat completions and completions over a real connection. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class GenerationRoutesTest {
    private static final String CHAT = "/v1/chat/completions";
    private static final String COMPLETIONS = "/v1/completions";
    private static final String QUESTION = "\"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]";
    private static final String TOOLS = "\"tools\": [{\"type\": \"function\", \"function\": {\"name\": \"weather\","
            + " \"parameters\": {\"type\": \"object\", \"properties\": {\"city\": {\"type\": \"string\"}},"
            + " \"required\": [\"city\"]}}}]";

    @AutoClose
    private final ServerFixture server = new ServerFixture().start();

    @Test
    void chat_hasTheShapeOfVllm() {
        var reply = server.post(CHAT, "{%s, \"max_tokens\": 3}".formatted(QUESTION), "X-Request-Id", "abc");

        // Key for key as vLLM writes it; only names, times and texts are left out.
        assertThat(reply.status()).isEqualTo(200);
        var masked = reply.text()
                .replaceFirst("\"created\":\\d+", "\"created\":1")
                .replaceFirst("\"content\":\"[^\"]*\"", "\"content\":\"hi\"");
        assertThat(masked)
                .isEqualTo("{\"id\":\"chatcmpl-abc\",\"object\":\"chat.completion\",\"created\":1,\"model\":\"m\","
                        + "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"hi\",\"refusal\":null,"
                        + "\"annotations\":null,\"audio\":null,\"function_call\":null,\"reasoning\":null},"
                        + "\"logprobs\":null,\"finish_reason\":\"length\",\"stop_reason\":null,\"token_ids\":null,"
                        + "\"routed_experts\":null}],\"service_tier\":null,\"system_fingerprint\":null,"
                        + "\"usage\":{\"prompt_tokens\":9,\"total_tokens\":12,\"completion_tokens\":3,"
                        + "\"prompt_tokens_details\":{\"cached_tokens\":0},\"completion_tokens_details\":null},"
                        + "\"prompt_logprobs\":null,\"prompt_token_ids\":null,\"prompt_text\":null,"
                        + "\"kv_transfer_params\":null,\"ec_transfer_params\":null,\"metrics\":null}");
        assertThat(reply.headers().firstValue("X-Request-Id")).contains("abc");
    }

    @Test
    void chatStream_hasTheChunksOfVllm() {
        var reply = server.post(
                CHAT,
                "{%s, \"max_tokens\": 3, \"stream\": true, \"stream_options\": {\"include_usage\": true}}"
                        .formatted(QUESTION));

        assertThat(reply.headers().firstValue("Content-Type").orElseThrow()).startsWith("text/event-stream");
        var events = reply.events();
        // The role, three tokens, and the usage.
        assertThat(events).hasSize(5);
        assertThat(events.get(0).get("choices").get(0).toString())
                .isEqualTo("{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"logprobs\":null,"
                        + "\"finish_reason\":null}");
        assertThat(fieldNames(events.get(1))).isEqualTo("id object created model choices");
        assertThat(fieldNames(events.get(1).get("choices").get(0))).isEqualTo("index delta logprobs finish_reason");
        var last = events.get(3).get("choices").get(0);
        assertThat(last.get("finish_reason").asText()).isEqualTo("length");
        assertThat(last.get("stop_reason").isNull()).isTrue();
        assertThat(events.get(4).get("choices")).isEmpty();
        assertThat(events.get(4).get("usage").get("completion_tokens").asInt()).isEqualTo(3);
        assertThat(reply.isDone()).isTrue();
    }

    @Test
    void stream_saysTheSameAsTheAnswerInOnePiece() {
        String body = "{%s, \"seed\": 5, \"stream\": %s}";

        var whole = server.post(CHAT, body.formatted(QUESTION, false)).json();
        var chunks = server.post(CHAT, body.formatted(QUESTION, true)).events();

        String streamed = chunks.stream()
                .map(chunk -> chunk.at("/choices/0/delta/content").asText())
                .collect(Collectors.joining());
        assertThat(streamed).isEqualTo(whole.at("/choices/0/message/content").asText());
        // The answer ends by itself: its last token, the end of sequence, has no text but counts.
        assertThat(whole.at("/choices/0/finish_reason").asText()).isEqualTo("stop");
        assertThat(chunks).hasSize(1 + whole.at("/usage/completion_tokens").asInt());
    }

    @Test
    void continuousUsage_countsInEveryChunk() {
        var events = server.post(
                        COMPLETIONS,
                        "{\"prompt\": [1, 2, 3], \"max_tokens\": 3, \"stream\": true, \"stream_options\":"
                                + " {\"include_usage\": true, \"continuous_usage_stats\": true}}")
                .events();

        assertThat(events)
                .extracting(event -> event.at("/usage/completion_tokens").asInt())
                .containsExactly(1, 2, 3, 3);
        assertThat(events)
                .extracting(event -> event.at("/usage/prompt_tokens").asInt())
                .containsOnly(3);
    }

    @Test
    void conversation_findsMoreInTheCacheWithEveryTurn() {
        var messages = Json.array();
        messages.addObject().put("role", "user").put("content", "A question of some length. ".repeat(20));
        int cached = -1;
        for (int turn = 0; turn < 4; turn++) {
            var body = Json.object().put("max_tokens", 50).put("ignore_eos", true);
            body.set("messages", messages);

            var answer = server.post(CHAT, body.toString()).json();

            int numPrompt = answer.at("/usage/prompt_tokens").asInt();
            int numCached =
                    answer.at("/usage/prompt_tokens_details/cached_tokens").asInt();
            assertThat(numCached).isGreaterThan(cached);
            // All blocks of the turn before, its answer included, but for what follows its last full block.
            assertThat(numPrompt - numCached).isLessThan(turn == 0 ? 1000 : 16 + 16 + 12);
            cached = numCached;
            messages.add(answer.at("/choices/0/message"));
            messages.addObject().put("role", "user").put("content", "And then?");
        }
    }

    @Test
    void cacheSalt_keepsPromptsApart() {
        String body = "{\"prompt\": \"%s\", \"max_tokens\": 1, \"cache_salt\": \"%s\"}";
        String prompt = "Something that nobody else asks. ".repeat(20);
        server.post(COMPLETIONS, body.formatted(prompt, "a"));

        var other = server.post(COMPLETIONS, body.formatted(prompt, "b")).json();
        var same = server.post(COMPLETIONS, body.formatted(prompt, "a")).json();

        assertThat(other.at("/usage/prompt_tokens_details/cached_tokens").asInt())
                .isZero();
        assertThat(same.at("/usage/prompt_tokens_details/cached_tokens").asInt())
                .isPositive();
    }

    @Test
    void completions_takeSeveralPromptsAndAnswers() {
        var answer = server.post(
                        COMPLETIONS, "{\"prompt\": [\"one\", \"two\"], \"n\": 2, \"max_tokens\": 4, \"echo\": true}")
                .json();

        assertThat(answer.get("choices")).hasSize(4);
        assertThat(answer.at("/choices/1/text").asText()).startsWith("one");
        assertThat(answer.at("/choices/2/text").asText()).startsWith("two");
        assertThat(answer.at("/choices/0/text").asText())
                .isNotEqualTo(answer.at("/choices/1/text").asText());
        // Each prompt is one token and counts once; four answers of four tokens.
        assertThat(answer.at("/usage/prompt_tokens").asInt()).isEqualTo(2);
        assertThat(answer.at("/usage/completion_tokens").asInt()).isEqualTo(16);
    }

    @Test
    void seed_givesTheSameAnswerAgain() {
        String body = "{%s, \"seed\": 42, \"max_tokens\": 20}".formatted(QUESTION);

        var first = server.post(CHAT, body).json().at("/choices/0/message/content");
        var second = server.post(CHAT, body).json().at("/choices/0/message/content");
        var unseeded = server.post(CHAT, "{%s, \"max_tokens\": 20}".formatted(QUESTION))
                .json();

        assertThat(second).isEqualTo(first);
        assertThat(unseeded.at("/choices/0/message/content")).isNotEqualTo(first);
    }

    @Test
    void stopString_endsTheAnswer() {
        String body =
                "{\"prompt\": \"x\", \"max_tokens\": 200, \"ignore_eos\": true, \"stop\": [\".\"], \"stream\": %s}";

        var whole = server.post(COMPLETIONS, body.formatted(false)).json();
        var chunks = server.post(COMPLETIONS, body.formatted(true)).events();

        // Every sentence has eleven words and a full stop.
        assertThat(whole.at("/choices/0/finish_reason").asText()).isEqualTo("stop");
        assertThat(whole.at("/choices/0/stop_reason").asText()).isEqualTo(".");
        assertThat(whole.at("/choices/0/text").asText()).doesNotContain(".");
        assertThat(whole.at("/usage/completion_tokens").asInt()).isEqualTo(12);
        assertThat(chunks.get(chunks.size() - 1).at("/choices/0/stop_reason").asText())
                .isEqualTo(".");
        server.awaitMetric("vllm:kv_cache_usage_perc", "", usage -> usage == 0);
    }

    @Test
    void stopToken_isNamed_andMinTokensDelaysIt() {
        int period = server.post("/tokenize", "{\"prompt\": \".\"}")
                .json()
                .at("/tokens/0")
                .asInt();
        String body = "{\"prompt\": \"x\", \"max_tokens\": 100, \"ignore_eos\": true, \"stop_token_ids\": [%d],"
                + " \"min_tokens\": %d}";

        var early = server.post(COMPLETIONS, body.formatted(period, 0)).json();
        var late = server.post(COMPLETIONS, body.formatted(period, 20)).json();

        // The first full stop is the 12th token, the second one the 24th.
        assertThat(early.at("/choices/0/stop_reason").asInt()).isEqualTo(period);
        assertThat(early.at("/usage/completion_tokens").asInt()).isEqualTo(12);
        assertThat(late.at("/usage/completion_tokens").asInt()).isEqualTo(24);
        assertThat(late.at("/choices/0/text").asText()).contains(".").doesNotEndWith(".");
    }

    @Test
    void toolCall_fitsItsSchema_andIsStreamedInParts() {
        String body = "{%s, %s, \"seed\": 1, \"tool_choice\": \"required\", \"stream\": %s}";

        var whole =
                server.post(CHAT, body.formatted(QUESTION, TOOLS, false)).json().at("/choices/0");
        var chunks = server.post(CHAT, body.formatted(QUESTION, TOOLS, true)).events();

        assertThat(whole.get("finish_reason").asText()).isEqualTo("tool_calls");
        assertThat(whole.at("/message/content").isNull()).isTrue();
        var call = whole.at("/message/tool_calls/0/function");
        assertThat(call.get("name").asText()).isEqualTo("weather");
        assertThat(Json.read(call.get("arguments").asText()).get("city").isTextual())
                .isTrue();
        String streamed = chunks.stream()
                .map(chunk -> chunk.at("/choices/0/delta/tool_calls/0/function/arguments")
                        .asText())
                .collect(Collectors.joining());
        assertThat(streamed).isEqualTo(call.get("arguments").asText());
        assertThat(chunks.get(chunks.size() - 1).at("/choices/0/finish_reason").asText())
                .isEqualTo("tool_calls");
    }

    @Test
    void autoToolChoice_speaksAfterAToolHasAnswered() {
        var answer = server.post(
                        CHAT,
                        "{\"messages\": [{\"role\": \"user\", \"content\": \"Weather?\"}, {\"role\": \"assistant\","
                                + " \"content\": null, \"tool_calls\": [{\"id\": \"1\", \"type\": \"function\","
                                + " \"function\": {\"name\": \"weather\", \"arguments\": \"{}\"}}]}, {\"role\": \"tool\","
                                + " \"tool_call_id\": \"1\", \"content\": \"sunny\"}], " + TOOLS + "}")
                .json();

        assertThat(answer.at("/choices/0/message/content").asText()).isNotEmpty();
    }

    @Test
    void jsonSchema_shapesTheAnswer() {
        var answer = server.post(
                        CHAT,
                        "{" + QUESTION
                                + ", \"response_format\": {\"type\": \"json_schema\", \"json_schema\": {\"name\":"
                                + " \"n\", \"schema\": {\"type\": \"object\", \"properties\": {\"ok\": {\"type\":"
                                + " \"boolean\"}}, \"required\": [\"ok\"]}}}}")
                .json();

        assertThat(Json.read(answer.at("/choices/0/message/content").asText())
                        .get("ok")
                        .isBoolean())
                .isTrue();
    }

    @Test
    void logprobs_comeWithEveryToken() {
        var chat = server.post(
                        CHAT, "{%s, \"max_tokens\": 4, \"logprobs\": true, \"top_logprobs\": 2}".formatted(QUESTION))
                .json()
                .at("/choices/0");
        var completion = server.post(COMPLETIONS, "{\"prompt\": \"x\", \"max_tokens\": 4, \"logprobs\": 1}")
                .json()
                .at("/choices/0");

        String said = chat.at("/message/content").asText();
        assertThat(chat.at("/logprobs/content")).hasSize(4);
        assertThat(chat.at("/logprobs/content/0/top_logprobs")).hasSize(2);
        assertThat(chat.at("/logprobs/content/0/logprob").asDouble()).isNegative();
        String joined = "";
        for (var each : chat.at("/logprobs/content")) {
            joined += each.get("token").asText();
        }
        assertThat(joined).isEqualTo(said);
        assertThat(completion.at("/logprobs/tokens")).hasSize(4);
        assertThat(completion.at("/logprobs/text_offset/0").asInt()).isZero();
    }

    @Test
    void logprobsOfAnEcho_beginWithThePrompt() {
        String body =
                "{\"prompt\": \"Hello there\", \"max_tokens\": 1, \"logprobs\": 1, \"echo\": true, \"stream\": %s}";
        var whole = server.post(COMPLETIONS, body.formatted(false)).json().at("/choices/0");
        var piece =
                server.post(COMPLETIONS, body.formatted(true)).events().get(0).at("/choices/0");

        // Two tokens of the prompt, of which the first follows nothing, and one of the answer.
        for (var choice : List.of(whole, piece)) {
            assertThat(choice.at("/logprobs/tokens")).hasSize(3);
            assertThat(choice.at("/logprobs/tokens/1").asText()).isEqualTo(" there");
            assertThat(choice.at("/logprobs/token_logprobs/0").isNull()).isTrue();
            assertThat(choice.at("/logprobs/top_logprobs/0").isNull()).isTrue();
            assertThat(choice.at("/logprobs/token_logprobs/1").asDouble()).isNegative();
            assertThat(choice.at("/logprobs/text_offset")).hasToString("[0,5,11]");
        }
        assertThat(whole.get("prompt_logprobs")).hasSize(2);
    }

    @Test
    void tokenizeAndDetokenize_areInverse() {
        var tokens = server.post("/tokenize", "{\"prompt\": \"hello wörld\"}").json();

        var text = server.post("/detokenize", "{\"tokens\": %s}".formatted(tokens.get("tokens")))
                .json();

        assertThat(text.get("prompt").asText()).isEqualTo("hello wörld");
        assertThat(tokens.get("count").asInt()).isEqualTo(tokens.get("tokens").size());
        assertThat(tokens.get("max_model_len").asInt()).isEqualTo(ServerFixture.MAX_MODEL_LEN);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        {"prompt": 5}                                    | 400 | Bad Request     | body.prompt
        {"prompt": [1, "a"]}                             | 400 | Bad Request     | body.prompt.1
        {"prompt": "x", "max_tokens": "many"}            | 400 | Bad Request     | body.max_tokens
        {}                                               | 400 | BadRequestError | prompt
        []                                               | 400 | Bad Request     | body
        {"prompt"                                        | 400 | Bad Request     | body
        {"prompt": ""}                                   | 400 | BadRequestError | prompt
        {"prompt": "x", "temperature": 3}                | 400 | BadRequestError | temperature
        {"prompt": "x", "top_p": 0}                      | 400 | BadRequestError | top_p
        {"prompt": "x", "n": 0}                          | 400 | BadRequestError | null
        {"prompt": "x", "n": 2, "temperature": 0}        | 400 | BadRequestError | null
        {"prompt": "x", "max_tokens": 0}                 | 400 | BadRequestError | max_tokens
        {"prompt": "x", "min_tokens": 17}                | 400 | BadRequestError | null
        {"prompt": "x", "logprobs": -1}                  | 400 | BadRequestError | logprobs
        {"prompt": "x", "stream": true, "prompt_logprobs": 1} | 400 | BadRequestError | prompt_logprobs
        {"prompt": "x", "stop": [""]}                    | 400 | BadRequestError | null
        {"prompt": "x", "cache_salt": ""}                | 400 | BadRequestError | cache_salt
        {"prompt": "x", "stream_options": {"include_usage": true}} | 400 | BadRequestError | stream_options
        {"prompt": "x", "priority": 1}                   | 400 | BadRequestError | priority
        {"prompt": [999999999]}                          | 400 | BadRequestError | prompt
        {"prompt": "x", "max_tokens": 5000}              | 400 | BadRequestError | input_tokens
        {"prompt": "x", "model": "other"}                | 404 | NotFoundError   | model
        """)
    void badInput_isAnsweredInVllmsWords(String body, int status, String type, String param) {
        var reply = server.post(COMPLETIONS, body);

        assertThat(reply.status()).isEqualTo(status);
        var error = reply.json().get("error");
        assertThat(error.get("type").asText()).isEqualTo(type);
        assertThat(error.get("param").asText()).isEqualTo(param);
        assertThat(error.get("code").asInt()).isEqualTo(status);
        assertThat(error.get("message").asText()).isNotEmpty();
    }

    @Test
    void logprobs_areMarkedAsMadeUp() {
        var with =
                server.post(COMPLETIONS, "{\"prompt\": \"x\", \"max_tokens\": 1, \"logprobs\": 1, \"stream\": true}");
        var without = server.post(COMPLETIONS, "{\"prompt\": \"x\", \"max_tokens\": 1}");

        assertThat(with.headers().firstValue("X-Understudy-Synthetic")).contains("logprobs");
        assertThat(without.headers().firstValue("X-Understudy-Synthetic")).isEmpty();
    }

    @Test
    void halfOfASurrogatePair_isNoErrorOfTheServer() {
        var reply = server.post(COMPLETIONS, "{\"prompt\": \"a\\ud800b\", \"echo\": true, \"max_tokens\": 1}");

        assertThat(reply.status()).isEqualTo(200);
        assertThat(reply.json().at("/choices/0/text").asText()).startsWith("a?b");
    }

    @Test
    void numbersMayBeText_andUnknownFieldsAreIgnored() {
        var reply = server.post(
                COMPLETIONS, "{\"prompt\": \"x\", \"max_tokens\": \"3\", \"whatever\": {}, \"user\": null}");

        assertThat(reply.status()).isEqualTo(200);
        assertThat(reply.json().at("/usage/completion_tokens").asInt()).isEqualTo(3);
    }

    private static String fieldNames(JsonNode node) {
        var names = new StringBuilder();
        node.fieldNames()
                .forEachRemaining(
                        name -> names.append(names.isEmpty() ? "" : " ").append(name));
        return names.toString();
    }
}
