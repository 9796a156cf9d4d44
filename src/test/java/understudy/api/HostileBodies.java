package understudy.api;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.pekko.util.ByteString;

/** Bodies that are not what they should be: fields of the wrong kind, huge ones, odd text, and what is no JSON. */
final class HostileBodies {
    private static final List<String> PATHS = List.of(
            "/v1/chat/completions",
            "/v1/completions",
            "/v1/responses",
            "/v1/messages",
            "/v1/messages/count_tokens",
            "/v1/chat/completions/render",
            "/v1/completions/render",
            "/v1/chat/completions/batch",
            "/inference/v1/generate",
            "/tokenize",
            "/detokenize");

    /** Paths of SGLang that take bodies, most of which generate. */
    static final List<String> SGLANG_PATHS = List.of(
            "/generate",
            "/generate",
            "/generate",
            "/v1/chat/completions",
            "/v1/chat/completions",
            "/v1/chat/completions",
            "/v1/completions",
            "/v1/completions",
            "/v1/responses",
            "/v1/messages",
            "/invocations",
            "/v1/tokenize",
            "/v1/detokenize",
            "/api/chat",
            "/api/generate",
            "/open_session",
            "/close_session",
            "/load_lora_adapter",
            "/unload_lora_adapter",
            "/abort_request",
            "/v1/embeddings",
            "/encode",
            "/classify",
            "/v1/score",
            "/v1/rerank",
            "/continue_generation");

    /** Names of sessions, of their requests, and of adapters. */
    private static final List<String> SESSIONS = List.of("a", "b", "x");

    private static final String SGLANG_KEYS =
            "text input_ids sampling_params rid return_logprob logprob_start_len top_logprobs_num stream lora_path"
                    + " priority return_text_in_logprobs input_embeds max_new_tokens min_new_tokens json_schema regex"
                    + " ebnf n stop temperature abort_all mode session_params extra_key no_stop_trim stop_regex"
                    + " return_hidden_states continue_final_message separate_reasoning bootstrap_room max_tokens"
                    + " session_id streaming timeout capacity_of_str_len pinned lora_name id offset replace"
                    + " query items label_token_ids apply_softmax item_first documents top_n dimensions";

    private static final List<String> KEYS = List.of(
            "prompt messages input tokens model n max_tokens max_completion_tokens min_tokens stop stop_token_ids stream",
            "stream_options logprobs top_logprobs temperature top_p top_k min_p seed priority cache_salt echo suffix tools",
            "tool_choice response_format structured_outputs ignore_eos truncate_prompt_tokens prompt_logprobs request_id",
            "logit_bias continue_final_message add_generation_prompt text instructions previous_response_id reasoning",
            "include background truncation max_output_tokens return_token_ids kv_transfer_params user metadata store parallel_tool_calls max_tool_calls",
            "token_ids sampling_params",
            "system stop_sequences output_config messages tools tool_choice metadata");
    private static final List<String> VALUES = List.of(
            "null",
            "true",
            "false",
            "0",
            "-1",
            "1",
            "3",
            "1024",
            "1e400",
            "1e-400",
            "-1e999999999",
            "99999999999999999999",
            "0.5",
            "\"\"",
            "\"x\"",
            "\"NaN\"",
            "\"1e400\"",
            "\"\\ud800\"",
            "\"a b c\"",
            "[]",
            "[[]]",
            "[1,2,3]",
            "[-5]",
            "[2147483648]",
            "[\"a\",\"b\"]",
            "[null]",
            "{}",
            "{\"role\":\"user\"}",
            "[{\"role\":\"user\",\"content\":\"hi\"}]",
            "[{\"role\":5,\"content\":{}}]",
            "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}]",
            "[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}]",
            "[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"http://a/b\"}}]}]",
            "[{\"role\":\"user\",\"content\":[{\"type\":\"input_image\",\"image_url\":\"data:;base64,iVBORw0KGgo=\"}]}]",
            "[{\"role\":\"user\",\"content\":[{\"type\":\"image\",\"source\":{\"data\":[]}}]}]",
            "[{\"role\":\"user\",\"content\":[{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"UklGRg==\"}}]}]",
            "[[{\"role\":\"user\",\"content\":\"hi\"}],[]]",
            "[{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"name\":5,\"input\":{}},{\"type\":\"thinking\"}]}]",
            "[{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"content\":[{\"type\":\"image\"},5]}]}]",
            "[{\"role\":\"ctx\",\"content\":[{\"type\":\"tool_result\",\"content\":{}}]}]",
            "{\"type\":\"tool\",\"name\":\"f\"}",
            "{\"type\":\"any\"}",
            "{\"user_id\":5}",
            "[{\"role\":\"assistant\",\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":{}}}]}]",
            "[{\"type\":\"function_call_output\",\"output\":[5]},{\"type\":\"item_reference\",\"id\":\"x\"}]",
            "{\"type\":\"json_object\"}",
            "{\"type\":\"structural_tag\"}",
            "\"required\"",
            "\"auto\"",
            "{\"type\":\"function\",\"function\":{\"name\":\"f\"}}",
            "{\"include_usage\":true}",
            "{\"effort\":\"x\"}",
            "{\"format\":{\"type\":\"json_object\"}}");
    private static final List<String> ODD_TEXT = List.of(
            "\\u0000",
            "\\ud800",
            "\\udc00\\ud800",
            "\\uffff",
            "\ufeff",
            "\u202e",
            "\u0301",
            "\ufdfa",
            "👩‍👩‍👧‍👦",
            "<|endoftext|>",
            "<|im_start|>",
            "\\u0001",
            "\\r\\nX-Evil: 1\\r\\n\\r\\n",
            " ",
            "a",
            "7",
            "\\n",
            "ab ");

    private final UniformRandomProvider random;
    private final List<String> paths;
    private final HostileSchemas schemas;

    HostileBodies(UniformRandomProvider random) {
        this(random, PATHS);
    }

    HostileBodies(UniformRandomProvider random, List<String> paths) {
        this.random = random;
        this.paths = paths;
        schemas = new HostileSchemas(random);
    }

    HostileRequest next() {
        // The answer to a path that there is not comes before the body has been read, and with it the connection
        // closes.
        return random.nextInt(20) == 0 ? HostileRequest.post("/nowhere", object("/nowhere")) : read();
    }

    /** Returns a request of which the server reads everything, so that others may follow it on its connection. */
    HostileRequest read() {
        String path = pick(paths);
        return switch (random.nextInt(24)) {
            case 0 -> HostileRequest.post(path, garbage());
            case 1 -> HostileRequest.post(path, object(path).substring(1));
            case 2 -> HostileRequest.post(path, pick(VALUES));
            case 3 -> HostileRequest.post(path, ByteString.fromString(object(path), StandardCharsets.UTF_16));
            case 4 -> HostileRequest.post(path, notUtf8(path));
            case 5 -> HostileRequest.post(path, with(path, "[".repeat(1 + random.nextInt(5000))));
            case 6 -> HostileRequest.post(path, with(path, "9".repeat(1 + random.nextInt(5000))));
            case 7 -> HostileRequest.post(path, with(path, many()));
            case 8, 9 -> HostileRequest.post(path, with(path, '"' + oddText() + '"'));
            case 10, 11, 12 -> HostileRequest.post(path, shaped(path));
            default -> HostileRequest.post(path, object(path));
        };
    }

    private String garbage() {
        var text = new StringBuilder();
        int length = random.nextInt(60);
        for (int i = 0; i < length; i++) {
            text.append((char) (1 + random.nextInt(0x2FF)));
        }
        return text.toString();
    }

    /** Bytes that are no UTF-8: overlong, cut off, or half of a pair. */
    private ByteString notUtf8(String path) {
        String wrong = pick(List.of("\u00c0\u0080", "\u00e2\u0082", "\u00ed\u00a0\u0080", "\u00ff\u00fe", "\u0000"));
        return ByteString.fromString(with(path, '"' + wrong + '"'), StandardCharsets.ISO_8859_1);
    }

    private String many() {
        return "[" + (pick(VALUES) + ", ").repeat(random.nextInt(5000)) + "1]";
    }

    /** Up to 300,000 characters, most of the time far less. */
    private String oddText() {
        int limit = (int) Math.exp(random.nextDouble() * Math.log(300_000));
        String piece = pick(ODD_TEXT);
        return piece.repeat(1 + limit / piece.length());
    }

    /** An answer that must have a shape, one way or the other. */
    private String shaped(String path) {
        String schema = schemas.next();
        return switch (random.nextInt(8)) {
            case 0, 1 ->
                object(
                        path,
                        "tools",
                        "[{\"type\": \"function\", \"name\": \"f\", \"parameters\": " + schema
                                + ", \"input_schema\": " + schema
                                + ", \"function\": {\"name\": \"f\", \"parameters\": " + schema + "}}]");
            case 2, 3 ->
                object(
                        path,
                        "response_format",
                        "{\"type\": \"json_schema\", \"json_schema\": {\"name\": \"n\", \"schema\": " + schema + "}}");
            case 4 ->
                object(
                        path,
                        path.startsWith("/v1/messages") ? "output_config" : "text",
                        "{\"format\": {\"type\": \"json_schema\", \"name\": \"n\", \"schema\": " + schema + "}}");
            case 5 -> object(path, "structured_outputs", "{\"json\": " + schema + "}");
            case 6 -> object(path, "structured_outputs", "{\"regex\": \"" + schemas.pattern() + "\"}");
            default ->
                object(
                        path,
                        "structured_outputs",
                        "{\"choice\": " + pick(VALUES) + ", \"grammar\": " + pick(VALUES) + "}");
        };
    }

    private String with(String path, String value) {
        return object(path, key(), value);
    }

    private String object(String path) {
        var body = new StringBuilder(open(path));
        int numFields = random.nextInt(4);
        for (int i = 0; i < numFields; i++) {
            body.append(", \"").append(key()).append("\": ").append(pick(VALUES));
        }
        return body.append('}').toString();
    }

    private String object(String path, String key, String value) {
        return open(path) + ", \"" + key + "\": " + value + (random.nextBoolean() ? ", \"stream\": true}" : "}");
    }

    /** Short answers, so that there is time for many. */
    private String open(String path) {
        return switch (path) {
            case "/v1/chat/completions", "/invocations" ->
                "{\"max_tokens\": 5, \"messages\": [{\"role\": \"user\", \"content\": \"hi\"}]";
            case "/v1/messages", "/v1/messages/count_tokens", "/v1/chat/completions/render" ->
                "{\"model\": \"m\", \"max_tokens\": 5, \"messages\": [{\"role\": \"user\", \"content\": \"hi\"}]";
            case "/v1/chat/completions/batch" ->
                "{\"max_tokens\": 5, \"messages\": [[{\"role\": \"user\", \"content\": \"hi\"}]]";
            case "/inference/v1/generate" -> "{\"token_ids\": [1, 2], \"sampling_params\": {\"max_tokens\": 5}";
            case "/v1/responses" -> "{\"max_output_tokens\": 5, \"input\": \"x\"";
            case "/detokenize", "/v1/detokenize" -> "{\"tokens\": [1]";
            case "/generate" ->
                "{\"text\": \"x\", \"sampling_params\": {\"max_new_tokens\": 5, \"" + key() + "\": " + pick(VALUES)
                        + "}" + (random.nextInt(4) == 0 ? inSession() : "");
            case "/api/chat" ->
                "{\"model\": \"m\", \"options\": {\"num_predict\": 5}, \"messages\": [{\"role\": \"user\", \"content\": \"hi\"}]";
            case "/api/generate" -> "{\"model\": \"m\", \"options\": {\"num_predict\": 5}, \"prompt\": \"x\"";
            case "/v1/tokenize" -> "{\"prompt\": \"x\"";
            case "/open_session" -> "{\"capacity_of_str_len\": 5, \"session_id\": \"" + pick(SESSIONS) + '"';
            case "/close_session" -> "{\"session_id\": \"" + pick(SESSIONS) + '"';
            case "/load_lora_adapter", "/unload_lora_adapter" ->
                "{\"lora_name\": \"" + pick(SESSIONS) + "\", \"lora_path\": \"/x\"";
            default -> "{\"max_tokens\": 5, \"prompt\": \"x\"";
        };
    }

    private String inSession() {
        return ", \"rid\": \"" + pick(SESSIONS) + "\", \"session_params\": {\"id\": \"" + pick(SESSIONS) + "\", \""
                + pick(List.of("rid", "offset", "replace", "drop_previous_output")) + "\": " + pick(VALUES) + "}";
    }

    private String key() {
        boolean isSglang = paths != PATHS && random.nextBoolean();
        return pick(List.of((isSglang ? SGLANG_KEYS : pick(KEYS)).split(" ", -1)));
    }

    private <T> T pick(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }
}
