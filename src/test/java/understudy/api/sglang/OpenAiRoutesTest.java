package understudy.api.sglang;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.api.ServerFixture;

/**
 * Chat completions and completions as SGLang answers them. Whole answers are compared with recorded ones; what SGLang's
 * sources say is named with its file.
 */
final class OpenAiRoutesTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Recorded in January 2026 (SGLang, Qwen2-VL-7B), text shortened. */
    private static final String RECORDED_CHAT = """
        {"id":"e87468f1c6b847ba99036a3aa37141dc","object":"chat.completion","created":1769180234,"model":"qwen2-vl-7b",
        "choices":[{"index":0,"message":{"role":"assistant","content":"Hello!","reasoning_content":null,"tool_calls":null},
        "logprobs":null,"finish_reason":"stop","matched_stop":151645}],
        "usage":{"prompt_tokens":26,"total_tokens":29,"completion_tokens":3,"prompt_tokens_details":null,
        "reasoning_tokens":0},"metadata":{"weight_version":"default"}}
        """;

    /** In the manual of a vendor, of November 2025 (SGLang, gpt-oss-120b), text shortened. */
    private static final String RECORDED_COMPLETION = """
        {"id":"91ecdb584d7244dca2a083f56bf5687d","object":"text_completion","created":1762760361,"model":"openai/gpt-oss-120b",
        "choices":[{"index":0,"text":" city in California","logprobs":null,"finish_reason":"length","matched_stop":null}],
        "usage":{"prompt_tokens":4,"total_tokens":24,"completion_tokens":20,"prompt_tokens_details":null,
        "reasoning_tokens":0},"metadata":{"weight_version":"default"}}
        """;

    private static final String HELLO = "\"messages\": [{\"role\": \"user\", \"content\": \"Say hello.\"}]";

    @AutoClose
    private static final ServerFixture SERVER = new ServerFixture();

    @BeforeAll
    static void start() {
        SERVER.moreSettings = """
            engine.kind = sglang
            kv-cache.num-gpu-blocks = auto
            engine.sglang.max-total-tokens = 16000
            engine.sglang.enable-lora = true
            engine.sglang.lora-paths = ["tiny=/adapters/tiny"]
            server.answers = echo
            """;
        SERVER.start();
    }

    private static ServerFixture.Reply chat(String fields) {
        return SERVER.post("/v1/chat/completions", "{" + HELLO + ", " + fields + "}");
    }

    private static ServerFixture.Reply complete(String fields) {
        return SERVER.post("/v1/completions", "{" + fields + "}");
    }

    private static JsonNode answer(ServerFixture.Reply reply) {
        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
        return reply.json();
    }

    /** The paths of all values with their kinds, in the order in which they come. */
    private static List<String> shape(JsonNode node) {
        var shape = new ArrayList<String>();
        addShape("", node, shape);
        return shape;
    }

    private static void addShape(String path, JsonNode node, List<String> shape) {
        if (node.isObject()) {
            node.properties().forEach(field -> addShape(path + "/" + field.getKey(), field.getValue(), shape));
        } else if (node.isArray()) {
            node.forEach(each -> addShape(path + "/*", each, shape));
        } else {
            shape.add(path + " " + (node.getNodeType() == JsonNodeType.NUMBER ? "NUMBER" : node.getNodeType()));
        }
    }

    private static JsonNode json(String text) throws IOException {
        return JSON.readTree(text);
    }

    @Test
    void chat_isAnsweredAsRecorded() throws IOException {
        var answer = answer(chat("\"model\": \"qwen2-vl-7b\""));

        assertThat(shape(answer)).isEqualTo(shape(json(RECORDED_CHAT)));
        // The name is the client's, whatever it is.
        assertThat(answer.get("model").textValue()).isEqualTo("qwen2-vl-7b");
        var usage = answer.get("usage");
        assertThat(usage.get("total_tokens").intValue())
                .isEqualTo(usage.get("prompt_tokens").intValue()
                        + usage.get("completion_tokens").intValue());
    }

    @Test
    void completion_isAnsweredAsRecorded() throws IOException {
        var answer = answer(complete("\"prompt\": \"San Francisco is a\", \"max_tokens\": 5, \"ignore_eos\": true"));

        assertThat(shape(answer)).isEqualTo(shape(json(RECORDED_COMPLETION)));
        assertThat(answer.at("/usage/completion_tokens").intValue()).isEqualTo(5);
        // DEFAULT_MODEL_NAME of protocol.py.
        assertThat(answer.get("model").textValue()).isEqualTo("default");
    }

    /** The name of a request is its id, as it is in {@code meta_info}. */
    @Test
    void rid_isTheId() {
        assertThat(answer(chat("\"rid\": \"mine\"")).get("id").textValue()).isEqualTo("mine");
        assertThat(answer(complete("\"prompt\": \"x\", \"rid\": \"mine\""))
                        .get("id")
                        .textValue())
                .isEqualTo("mine");
        assertThat(answer(chat("\"n\": 1")).get("id").textValue()).doesNotStartWith("chatcmpl-");
    }

    /** As {@code FINISH_MATCHED_STR}; {@code no_stop_trim} leaves the text as it is. */
    @Test
    void stopString_isToldAsWhatMatched() {
        String prompt = "\"prompt\": \"one two three four\", \"max_tokens\": 50, \"stop\": \"three\"";

        var stopped = answer(complete(prompt)).at("/choices/0");
        assertThat(stopped.get("finish_reason").textValue()).isEqualTo("stop");
        assertThat(stopped.get("matched_stop").textValue()).isEqualTo("three");
        assertThat(stopped.get("text").textValue()).endsWith("two ");

        var whole = answer(complete(prompt + ", \"no_stop_trim\": true")).at("/choices/0/text");
        assertThat(whole.textValue()).endsWith("two three");
    }

    /**
     * The chunks of {@code sse_utils.py}: a role, texts, an end without text, and then the usage ({@code serving_chat.py},
     * {@code _generate_chat_stream}).
     */
    @Test
    void chatStream_hasSglangsChunks() {
        var reply = chat("\"stream\": true, \"stream_options\": {\"include_usage\": true}");

        assertThat(reply.isDone()).isTrue();
        var events = reply.events();
        String name = "/id STRING, /object STRING, /created NUMBER, /model STRING, ";
        String rest = ", /choices/*/logprobs NULL, /choices/*/finish_reason NULL, /choices/*/matched_stop NULL";
        assertThat(joined(events.get(0)))
                .isEqualTo(name + "/choices/*/index NUMBER, /choices/*/delta/reasoning_content NULL,"
                        + " /choices/*/delta/role STRING, /choices/*/delta/content STRING" + rest);
        assertThat(joined(events.get(1)))
                .isEqualTo(name + "/choices/*/index NUMBER, /choices/*/delta/reasoning_content NULL,"
                        + " /choices/*/delta/content STRING" + rest);
        var end = events.get(events.size() - 2).at("/choices/0");
        assertThat(end.get("delta").toString()).isEqualTo("{\"reasoning_content\":null}");
        assertThat(end.get("finish_reason").textValue()).isEqualTo("stop");
        assertThat(end.get("matched_stop").isInt()).isTrue();
        var usage = events.get(events.size() - 1);
        assertThat(usage.get("choices")).isEmpty();
        assertThat(fields(usage.get("usage")))
                .containsExactly(
                        "prompt_tokens",
                        "total_tokens",
                        "completion_tokens",
                        "prompt_tokens_details",
                        "reasoning_tokens");
        assertThat(events.stream()
                        .map(event -> event.at("/choices/0/delta/content").asText(""))
                        .collect(Collectors.joining()))
                .isEqualTo(answer(chat("\"n\": 1"))
                        .at("/choices/0/message/content")
                        .textValue());
    }

    private static String joined(JsonNode event) {
        return String.join(", ", shape(event));
    }

    private static List<String> fields(JsonNode object) {
        return object.properties().stream().map(Map.Entry::getKey).toList();
    }

    /** The ends of all answers come when the last text has come. */
    @Test
    void severalAnswers_endTogether() {
        var events = chat("\"stream\": true, \"n\": 3, \"max_tokens\": 4, \"ignore_eos\": true")
                .events();

        var ends = events.subList(events.size() - 3, events.size());
        assertThat(ends)
                .extracting(event -> event.at("/choices/0/finish_reason").textValue())
                .containsOnly("length");
        assertThat(ends)
                .extracting(event -> event.at("/choices/0/index").intValue())
                .containsExactlyInAnyOrder(0, 1, 2);
        var roles = new TreeMap<Integer, Integer>();
        events.stream()
                .filter(event -> event.at("/choices/0/delta").has("role"))
                .forEach(event -> roles.merge(event.at("/choices/0/index").intValue(), 1, Integer::sum));
        assertThat(roles).isEqualTo(Map.of(0, 1, 1, 1, 2, 1));
    }

    /** {@code serving_completions.py}: chunks are written whole, and the usage at the end without what is null. */
    @Test
    void completionStream_hasSglangsChunks() {
        var reply = complete("\"prompt\": \"x\", \"stream\": true, \"max_tokens\": 3, \"ignore_eos\": true,"
                + " \"stream_options\": {\"include_usage\": true, \"continuous_usage_stats\": true}");

        assertThat(reply.isDone()).isTrue();
        var events = reply.events();
        var first = events.get(0);
        assertThat(fields(first)).containsExactly("id", "object", "created", "model", "choices", "usage");
        assertThat(fields(first.at("/choices/0")))
                .containsExactly("index", "text", "logprobs", "finish_reason", "matched_stop");
        assertThat(first.at("/usage/completion_tokens").intValue()).isEqualTo(1);
        assertThat(events.get(events.size() - 2).at("/choices/0/finish_reason").textValue())
                .isEqualTo("length");
        assertThat(events.get(events.size() - 1).get("usage").toString())
                .matches(
                        "\\{\"prompt_tokens\":\\d+,\"total_tokens\":\\d+,\"completion_tokens\":3,\"reasoning_tokens\":0}");
    }

    /** {@code protocol.py}, {@code ToolCall}; {@code serving_chat.py}, {@code _process_tool_call_id}. */
    @Test
    void toolCall_isNamedAsSglangDoes() {
        String tools = "\"tools\": [{\"type\": \"function\", \"function\": {\"name\": \"weather\"}}],"
                + " \"tool_choice\": \"required\"";

        var choice = answer(chat(tools)).at("/choices/0");
        assertThat(choice.get("finish_reason").textValue()).isEqualTo("tool_calls");
        assertThat(choice.get("matched_stop").isNull()).isTrue();
        var call = choice.at("/message/tool_calls/0");
        assertThat(fields(call)).containsExactly("id", "index", "type", "function");
        assertThat(call.get("id").textValue()).matches("call_[0-9a-f]{24}");

        var parts = chat(tools + ", \"stream\": true").events().stream()
                .map(event -> event.at("/choices/0/delta/tool_calls/0"))
                .filter(part -> !part.isMissingNode())
                .toList();
        assertThat(parts.get(0).at("/function/name").textValue()).isEqualTo("weather");
        assertThat(parts.stream()
                        .map(part -> part.at("/function/arguments").asText(""))
                        .collect(Collectors.joining()))
                .isEqualTo(call.at("/function/arguments").textValue());
    }

    /** {@code serving_base.py}, {@code create_error_response}; the messages are those of the files of the checks. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                // serving_chat.py, _validate_request
                "\"messages\": []|BadRequestError|Messages cannot be empty.",
                "\"tool_choice\": \"required\"|BadRequestError|Tools cannot be empty if tool choice is set to required.",
                // sampling_params.py, verify
                "\"top_p\": 0|BadRequestError|top_p must be in (0, 1], got 0.0.",
                "\"top_k\": 0|BadRequestError|top_k must be -1 (disable) or at least 1, got 0.",
                "\"regex\": \"a\", \"ebnf\": \"b\"|BadRequestError|Only one of regex, json_schema, or ebnf can be set.",
                // protocol.py
                "\"response_format\": {\"type\": \"json_schema\"}|BadRequestError"
                        + "|schema_ is required for json_schema response format request.",
                // serving_chat.py, _convert_to_internal_request
                "\"stream\": true, \"return_meta_info\": true|BadRequest|return_meta_info is not supported with streaming."
                        + " Please set stream=false when using return_meta_info=true.",
                // tokenizer_manager.py, _validate_one_request
                "\"return_hidden_states\": true|BadRequestError|The server is not configured to return the hidden states."
                        + " Please set `--enable-return-hidden-states` to enable this feature.",
                // tokenizer_manager.py, _resolve_lora_path
                "\"model\": \"m:other\"|BadRequestError|Got LoRA adapter that has never been loaded: other\\n"
                        + "All loaded adapters: dict_keys(['tiny'])."
            })
    void wrongValue_isToldAsSglangDoes(String fields, String type, String message) {
        var reply = SERVER.post(
                "/v1/chat/completions", "{" + (fields.contains("messages") ? "" : HELLO + ", ") + fields + "}");

        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.text())
                .isEqualTo("{\"object\":\"error\",\"message\":\"" + message + "\",\"type\":\"" + type
                        + "\",\"param\":null,\"code\":400}");
    }

    /** {@code http_server.py}, {@code validation_exception_handler}. */
    @ParameterizedTest
    @ValueSource(strings = {"{\"messages\": 5}", "{}", "{", "[]"})
    void wrongSchema_hasTheFlatBody(String body) {
        var reply = SERVER.post("/v1/chat/completions", body);

        assertThat(reply.status()).isEqualTo(400);
        assertThat(fields(reply.json())).containsExactly("object", "message", "type", "param", "code");
        assertThat(reply.json().get("type").textValue()).isEqualTo("Bad Request");
    }

    /** {@code http_server.py}: what the schema refuses has the bodies of the APIs of others on their paths. */
    @Test
    void wrongSchema_hasTheBodyOfItsApi() {
        var messages = SERVER.post("/v1/messages", "{}").json();
        assertThat(messages.get("type").textValue()).isEqualTo("error");
        assertThat(messages.at("/error/type").textValue()).isEqualTo("invalid_request_error");
        var responses = SERVER.post("/v1/responses", "{").json();
        assertThat(fields(responses.get("error"))).containsExactly("message", "type", "param", "code");
    }

    /** {@code _make_not_found_error} of {@code serving_responses.py}, whose bodies are flat; the schema's are nested. */
    @Test
    void responsesThatAreNotThere_haveTheFlatBody() {
        String words = "\"message\":\"Response with id 'resp_1' not found.\"";
        var fetched = SERVER.get("/v1/responses/resp_1");
        assertThat(fetched.status()).isEqualTo(404);
        assertThat(fetched.text())
                .isEqualTo("{\"object\":\"error\"," + words
                        + ",\"type\":\"invalid_request_error\",\"param\":\"response_id\",\"code\":404}");
        var previous = SERVER.post("/v1/responses", "{\"input\": \"x\", \"previous_response_id\": \"resp_1\"}");
        assertThat(previous.status()).isEqualTo(404);
        assertThat(previous.text()).startsWith("{\"object\":\"error\"," + words);

        var refused = SERVER.post("/v1/responses", "{\"input\": \"x\", \"temperature\": \"warm\"}")
                .json();
        assertThat(refused.at("/error/type").textValue()).isEqualTo("Bad Request");
        assertThat(refused.at("/error/param").isNull()).isTrue();
    }

    /** The words of {@code tokenizer_manager.py}, {@code _validate_one_request}, which clients look for. */
    @Test
    void promptsThatAreTooLong_areToldAsSglangDoes() {
        // A word is a token, of 2048 at most.
        var input = complete("\"prompt\": \"" + "word ".repeat(3000) + "\"").json();
        assertThat(input.get("message").textValue())
                .matches("The input \\(\\d+ tokens\\) is longer than the model's context length \\(2048 tokens\\)\\."
                        + "|Requested token count exceeds the model's maximum context length of 2048 tokens\\. .*");
        var both = complete("\"prompt\": [1, 2, 3], \"max_tokens\": 2046").json();
        assertThat(both.get("message").textValue())
                .isEqualTo(
                        "Requested token count exceeds the model's maximum context length of 2048 tokens. You requested"
                                + " a total of 2049 tokens: 3 tokens from the input messages and 2046 tokens for the completion."
                                + " Please reduce the number of tokens in the input messages or the completion to fit within the"
                                + " limit.");
    }

    /** Starlette answers for what has no route. */
    @Test
    void unknownPath_isNotFound() {
        assertThat(SERVER.get("/nowhere").text()).isEqualTo("{\"detail\":\"Not Found\"}");
        assertThat(SERVER.get("/v1/completions").text()).isEqualTo("{\"detail\":\"Method Not Allowed\"}");
    }

    /** {@code serving_base.py}, {@code _resolve_lora_path}: the model goes before the path. */
    @ParameterizedTest
    @ValueSource(
            strings = {"\"model\": \"m:tiny\"", "\"lora_path\": \"tiny\"", "\"model\": \"m:tiny\", \"lora_path\": \"x\""
            })
    void adapter_isNamedByModelOrPath(String fields) {
        assertThat(chat(fields).status()).isEqualTo(200);
    }

    /** Fields that SGLang has, or that it ignores. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"min_p\": 0.1, \"top_k\": -1, \"repetition_penalty\": 1.1, \"stop_token_ids\": [5]",
                "\"separate_reasoning\": true, \"stream_reasoning\": false, \"chat_template_kwargs\": {\"thinking\": true}",
                "\"session_params\": {\"id\": \"x\"}, \"priority\": 3, \"extra_key\": \"k\", \"cache_salt\": \"s\"",
                "\"bootstrap_host\": \"h\", \"bootstrap_port\": 1, \"bootstrap_room\": 2",
                "\"stream_options\": {\"include_usage\": true}",
                "\"reasoning_effort\": 0.5, \"structured_outputs\": {\"grammar\": \"x\"}, \"prompt_logprobs\": 99",
                "\"temperature\": 5, \"tools\": [], \"tool_choice\": \"auto\"",
                "\"n\": 2, \"temperature\": 0"
            })
    void fields_areAccepted(String fields) {
        assertThat(chat(fields).status()).isEqualTo(200);
    }

    /** {@code _handle_last_assistant_message}: the answer goes on behind the model's own words. */
    @Test
    void finalMessage_isContinued() {
        String own =
                "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}, {\"role\": \"assistant\", \"content\": \"b\"}]";

        int continued = numPromptTokens(own + ", \"continue_final_message\": true}");
        int asUser = numPromptTokens(own + "}");

        // Without continuation the answer has a header of its own behind the last message.
        assertThat(continued).isLessThan(asUser);
    }

    private static int numPromptTokens(String body) {
        return answer(SERVER.post("/v1/chat/completions", body))
                .at("/usage/prompt_tokens")
                .intValue();
    }

    @Test
    void constraints_shapeTheAnswer() {
        var regex = answer(chat("\"regex\": \"[ab]{3}\"")).at("/choices/0/message/content");
        assertThat(regex.textValue()).matches("[ab]{3}");

        var object =
                answer(chat("\"response_format\": {\"type\": \"json_object\"}")).at("/choices/0/message/content");
        assertThat(object.textValue()).startsWith("{").endsWith("}");
    }

    /** {@code --enable-cache-report}, with {@code usage_processor.py}; and the body of a 401 in {@code utils/auth.py}. */
    @Test
    void cachedTokens_areToldIfTheServerReportsThem() {
        try (var server = new ServerFixture()) {
            server.apiKey = "user";
            server.moreSettings = """
                engine.kind = sglang
                kv-cache.num-gpu-blocks = auto
                engine.sglang.max-total-tokens = 16000
                server.sglang.enable-cache-report = true
                server.sglang.admin-api-key = admin
                """;
            server.start();
            String body = "{\"prompt\": [5, 6, 7, 8, 9], \"max_tokens\": 1}";
            String[] key = {"Authorization", "Bearer user"};

            var first = server.post("/v1/completions", body, key).json();
            assertThat(first.at("/usage/prompt_tokens_details").isNull()).isTrue();
            // Pages are of one token, and the last token of a prompt is computed in any case.
            var again = server.post("/v1/completions", body, key).json();
            assertThat(again.at("/usage/prompt_tokens_details").toString()).isEqualTo("{\"cached_tokens\":4}");

            var refused = server.post("/flush_cache", "", key);
            assertThat(refused.status()).isEqualTo(401);
            assertThat(refused.text()).isEqualTo("{\"error\":\"Unauthorized\"}");
        }
    }
}
