package understudy.api.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import understudy.api.ServerFixture;
import understudy.api.http.Json;

/** Responses over a real connection. */
final class ResponsesRoutesTest {
    @AutoClose
    private final ServerFixture server = new ServerFixture().start();

    @Test
    void responses_goOnFromItemsOfEarlierOnes() {
        String question = "\"Tell me about systems that serve, and about those that do not\"";
        var whole = server.post(
                        "/v1/responses",
                        "{\"model\": \"m\", \"input\": " + question + ", \"max_output_tokens\": 16, \"stream\": false}")
                .json();
        String said = whole.at("/output/0/content/0/text").asText();
        String next = """
                {"model": "m", "max_output_tokens": 16, "input": [{"role": "user", "content": %s}, %s,
                 {"role": "user", "content": "And then?"}]}""";
        String reference = "{\"type\": \"item_reference\", \"id\": \""
                + whole.at("/output/0/id").asText() + "\"}";
        String repeated =
                "{\"role\": \"assistant\", \"content\": " + Json.object().textNode(said) + "}";

        var byReference = server.post("/v1/responses", next.formatted(question, reference))
                .json();
        var bySaying =
                server.post("/v1/responses", next.formatted(question, repeated)).json();

        int numTokens = byReference.at("/usage/input_tokens").asInt();
        // At least the question, the answer, and what was asked then.
        assertThat(numTokens)
                .isEqualTo(bySaying.at("/usage/input_tokens").asInt())
                .isGreaterThan(16 + 10);
        var unknown = server.post(
                "/v1/responses", next.formatted(question, "{\"type\": \"item_reference\", \"id\": \"msg_1\"}"));
        assertThat(unknown.status()).isEqualTo(404);
        assertThat(unknown.json().at("/error/message").asText()).isEqualTo("Item with id 'msg_1' not found.");
    }

    @Test
    void responses_answerInOnePieceAndStreamed() {
        String body = "{\"input\": \"Hello\", \"max_output_tokens\": 5, \"stream\": %s}";

        var whole = server.post("/v1/responses", body.formatted(false)).json();
        var events = server.post("/v1/responses", body.formatted(true)).events();

        assertThat(whole.at("/output/0/content/0/text").asText()).isNotEmpty();
        assertThat(whole.at("/usage/output_tokens").asInt()).isEqualTo(5);
        assertThat(events)
                .extracting(event -> event.get("type").asText())
                .startsWith("response.created", "response.in_progress", "response.output_item.added")
                .contains("response.output_text.delta", "response.output_text.done")
                .endsWith("response.incomplete");
        assertConsecutive(events);
    }

    @Test
    void response_repeatsWhatWasAskedFor() {
        var response = respond("""
                {"input": "x", "reasoning": {"effort": "low"}, "user": "u", "truncation": "auto", "service_tier": "flex",
                 "temperature": 0.5, "top_p": 0.9, "presence_penalty": 0.25, "frequency_penalty": -1, "max_tool_calls": 3,
                 "metadata": {"a": "b"}, "instructions": "Be brief.", "parallel_tool_calls": false, "top_logprobs": 2,
                 "max_output_tokens": 4, "text": {"verbosity": "low", "format": {"type": "json_schema", "name": "n",
                 "schema": {"type": "integer"}, "strict": true}}}""");

        assertThat(response.get("reasoning").toString())
                .isEqualTo("{\"effort\":\"low\",\"generate_summary\":null,\"summary\":null}");
        assertThat(response.get("text").toString())
                .isEqualTo("{\"format\":{\"name\":\"n\",\"schema\":{\"type\":\"integer\"},\"type\":\"json_schema\","
                        + "\"description\":null,\"strict\":true},\"verbosity\":\"low\"}");
        assertThat(response.get("user").asText()).isEqualTo("u");
        assertThat(response.get("truncation").asText()).isEqualTo("auto");
        assertThat(response.get("service_tier").asText()).isEqualTo("flex");
        assertThat(response.get("temperature").asDouble()).isEqualTo(0.5);
        assertThat(response.get("top_p").asDouble()).isEqualTo(0.9);
        assertThat(response.get("presence_penalty").asDouble()).isEqualTo(0.25);
        assertThat(response.get("frequency_penalty").asDouble()).isEqualTo(-1);
        assertThat(response.get("max_tool_calls").asInt()).isEqualTo(3);
        assertThat(response.at("/metadata/a").asText()).isEqualTo("b");
        assertThat(response.get("instructions").asText()).isEqualTo("Be brief.");
        assertThat(response.get("parallel_tool_calls").asBoolean(true)).isFalse();
        assertThat(response.get("top_logprobs").isNull())
                .as("log probabilities that are not included")
                .isTrue();
        assertThat(response.get("max_output_tokens").asInt()).isEqualTo(4);
    }

    @Test
    void response_hasTheKeysOfVllmInItsOrder() {
        var response = respond("{\"input\": \"Hello\"}");

        assertThat(response.fieldNames())
                .toIterable()
                .containsExactly(
                        "id",
                        "created_at",
                        "incomplete_details",
                        "instructions",
                        "metadata",
                        "model",
                        "object",
                        "output",
                        "parallel_tool_calls",
                        "temperature",
                        "tool_choice",
                        "tools",
                        "top_p",
                        "presence_penalty",
                        "frequency_penalty",
                        "background",
                        "max_output_tokens",
                        "max_tool_calls",
                        "previous_response_id",
                        "prompt",
                        "reasoning",
                        "service_tier",
                        "status",
                        "text",
                        "top_logprobs",
                        "truncation",
                        "usage",
                        "user",
                        "input_messages",
                        "output_messages",
                        "kv_transfer_params",
                        "ec_transfer_params",
                        "error");
        int numInput = response.at("/usage/input_tokens").asInt();
        assertThat(response.get("max_output_tokens").asInt())
                .as("what the prompt leaves of the context")
                .isEqualTo(ServerFixture.MAX_MODEL_LEN - numInput);
        assertThat(response.at("/usage/input_tokens_details").toString()).isEqualTo("{\"cached_tokens\":0}");
        assertThat(response.at("/usage/output_tokens_details").toString())
                .isEqualTo("{\"reasoning_tokens\":0,\"tool_output_tokens\":0}");
        assertThat(response.get("incomplete_details").isNull()).isTrue();
    }

    @Test
    void cutOffResponse_saysWhy() {
        var response = respond("{\"input\": \"Hello\", \"max_output_tokens\": 3}");

        assertThat(response.get("status").asText()).isEqualTo("incomplete");
        assertThat(response.at("/incomplete_details/reason").asText()).isEqualTo("max_output_tokens");
    }

    @Test
    void includedLogprobs_areInPartsAndEvents() {
        String body = "{\"input\": \"Hello\", \"max_output_tokens\": 5, \"top_logprobs\": 2, \"stream\": %s,"
                + " \"include\": [\"message.output_text.logprobs\"]}";

        var reply = server.post("/v1/responses", body.formatted(false));
        var events = server.post("/v1/responses", body.formatted(true)).events();

        assertThat(reply.headers().firstValue("X-Understudy-Synthetic")).contains("logprobs");
        assertThat(reply.json().get("top_logprobs").asInt()).isEqualTo(2);
        var logprobs = reply.json().at("/output/0/content/0/logprobs");
        assertThat(logprobs).hasSize(5).allSatisfy(each -> {
            assertThat(each.fieldNames()).toIterable().containsExactly("token", "logprob", "bytes", "top_logprobs");
            assertThat(each.get("top_logprobs")).hasSize(2);
        });
        var ofDeltas = ofType(events, "response.output_text.delta").stream()
                .flatMap(event -> StreamSupport.stream(event.get("logprobs").spliterator(), false))
                .toList();
        assertThat(ofDeltas)
                .hasSize(5)
                .allSatisfy(each ->
                        assertThat(each.fieldNames()).toIterable().containsExactly("token", "logprob", "top_logprobs"));
        assertThat(ofType(events, "response.output_text.done").get(0).get("logprobs"))
                .hasSameElementsAs(ofDeltas);
        assertThat(ofType(events, "response.content_part.done").get(0).at("/part/logprobs"))
                .hasSize(5);
    }

    @Test
    void unwantedLogprobs_areNull() {
        var response = respond("{\"input\": \"Hello\", \"max_output_tokens\": 5}");

        assertThat(response.at("/output/0/content/0/logprobs").isNull()).isTrue();
    }

    @Test
    void arguments_comeTokenByToken() {
        String body = """
                {"input": "Hello", "stream": %s, "tools": [{"type": "function", "name": "f", "parameters": {"type": "object",
                 "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a", "b"]}}]}""";

        var events = server.post("/v1/responses", body.formatted(true)).events();

        assertConsecutive(events);
        var deltas = ofType(events, "response.function_call_arguments.delta");
        assertThat(deltas).hasSizeGreaterThan(3);
        String arguments =
                deltas.stream().map(each -> each.get("delta").asText()).collect(Collectors.joining());
        assertThat(events)
                .extracting(event -> event.get("type").asText())
                .startsWith(
                        "response.created",
                        "response.in_progress",
                        "response.output_item.added",
                        "response.function_call_arguments.delta")
                .endsWith(
                        "response.function_call_arguments.delta",
                        "response.function_call_arguments.done",
                        "response.output_item.done",
                        "response.completed");
        var done = ofType(events, "response.output_item.done").get(0).get("item");
        assertThat(done.get("arguments").asText()).isEqualTo(arguments);
        assertThat(Json.read(arguments).fieldNames()).toIterable().containsExactly("a", "b");
        assertThat(ofType(events, "response.completed").get(0).at("/response/output/0"))
                .isEqualTo(done);
    }

    @Test
    void cutOffArguments_stayCutOff() {
        String body = """
                {"input": "Hello", "stream": %s, "max_output_tokens": 16, "tools": [{"type": "function", "name": "f",
                 "parameters": {"type": "object", "properties": {"a": {"type": "string", "minLength": 200}},
                 "required": ["a"]}}]}""";

        var whole = server.post("/v1/responses", body.formatted(false)).json();
        var events = server.post("/v1/responses", body.formatted(true)).events();

        assertThat(whole.get("status").asText()).isEqualTo("incomplete");
        assertThat(whole.at("/output/0/arguments").asText()).startsWith("{").doesNotEndWith("}");
        assertThat(ofType(events, "response.incomplete")
                        .get(0)
                        .at("/response/output/0/arguments")
                        .asText())
                .startsWith("{")
                .doesNotEndWith("}");
    }

    private JsonNode respond(String body) {
        var reply = server.post("/v1/responses", body);
        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
        return reply.json();
    }

    private static List<JsonNode> ofType(List<JsonNode> events, String type) {
        return events.stream()
                .filter(event -> event.get("type").asText().equals(type))
                .toList();
    }

    private static void assertConsecutive(List<JsonNode> events) {
        assertThat(events)
                .extracting(event -> event.get("sequence_number").asInt())
                .containsExactlyElementsOf(
                        IntStream.range(0, events.size()).boxed().toList());
    }
}
