package understudy.api.openai;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.api.ServerFixture;
import understudy.api.http.Json;

/** Answers that must look like something, over a real connection. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class StructuredOutputsTest {
    private static final String CHAT = "/v1/chat/completions";
    private static final String COMPLETIONS = "/v1/completions";
    private static final String QUESTION = "\"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]";
    private static final String TOOLS = "\"tools\": [{\"type\": \"function\", \"function\": {\"name\": \"weather\"}}]";

    @AutoClose
    private final ServerFixture server = new ServerFixture().start();

    @Test
    void choice_isOneOfThem() {
        var seen = new HashSet<String>();
        for (int seed = 0; seed < 20; seed++) {
            seen.add(content("\"structured_outputs\": {\"choice\": [\"red\", \"deep green\"]}, \"seed\": " + seed));
        }

        assertThat(seen).containsExactlyInAnyOrder("red", "deep green");
    }

    @Test
    void choice_isStreamedInFull() {
        var reply = server.post(
                COMPLETIONS, "{\"prompt\": \"x\", \"structured_outputs\": {\"choice\": [\"red\"]}, \"stream\": true}");

        assertThat(reply.events().get(0).at("/choices/0/text").asText()).isEqualTo("red");
        assertThat(reply.events()
                        .get(reply.events().size() - 1)
                        .at("/choices/0/finish_reason")
                        .asText())
                .isEqualTo("stop");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"json\": {\"type\": \"object\", \"properties\": {\"n\": {\"type\": \"integer\"}}, \"required\":"
                        + " [\"n\"]}}",
                "{\"json\": \"{\\\"type\\\": \\\"object\\\", \\\"properties\\\": {\\\"n\\\": {\\\"type\\\":"
                        + " \\\"integer\\\"}}}\"}"
            })
    void json_followsItsSchema(String outputs) {
        var chat = Json.read(content("\"structured_outputs\": " + outputs));
        var completion = server.post(
                        COMPLETIONS,
                        "{\"prompt\": \"x\", \"max_tokens\": 99, \"structured_outputs\": %s}".formatted(outputs))
                .json();

        assertThat(chat.get("n").isInt()).isTrue();
        assertThat(Json.read(completion.at("/choices/0/text").asText()).get("n").isInt())
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"structured_outputs\": {\"json_object\": true}",
                "\"response_format\": {\"type\": \"json_object\"}"
            })
    void jsonObject_hasAFewKeys(String field) {
        var object = Json.read(content(field));

        assertThat(object.get("answer").isTextual()).isTrue();
        assertThat(object.get("score").isNumber()).isTrue();
        assertThat(object.get("done").isBoolean()).isTrue();
    }

    @Test
    void regex_isFollowed() {
        assertThat(content("\"structured_outputs\": {\"regex\": \"[a-z]{3,8}@(example|test)\\\\\\\\.com\"}"
                        .replace("\\\\\\\\", "\\\\")))
                .matches("[a-z]{3,8}@(example|test)\\.com");
    }

    @Test
    void patternOfAProperty_isFollowed() {
        var answer =
                Json.read(content("\"response_format\": {\"type\": \"json_schema\", \"json_schema\": {\"name\": \"n\","
                        + " \"schema\": {\"type\": \"object\", \"properties\": {\"code\": {\"type\": \"string\","
                        + " \"pattern\": \"^[A-Z]{3}-[0-9]{2}$\"}}, \"required\": [\"code\"]}}}"));

        assertThat(answer.get("code").asText()).matches("[A-Z]{3}-[0-9]{2}");
    }

    @Test
    void recursiveSchema_hasNoNulls() {
        var answer = content("\"response_format\": {\"type\": \"json_schema\", \"json_schema\": {\"name\": \"n\","
                + " \"schema\": {\"type\": \"object\", \"properties\": {\"kids\": {\"type\": \"array\", \"items\":"
                + " {\"$ref\": \"#\"}}}, \"required\": [\"kids\"]}}}");

        assertThat(answer).startsWith("{\"kids\":[{\"kids\":").doesNotContain("null");
    }

    /** As vLLM has it: a constraint leaves no room for a call that the model would decide on. */
    @Test
    void constraint_goesBeforeAutomaticCallsOnly() {
        String outputs = "\"structured_outputs\": {\"choice\": [\"red\"]}, " + TOOLS;

        assertThat(content(outputs)).isEqualTo("red");
        assertThat(content(outputs + ", \"tool_choice\": \"none\"")).isEqualTo("red");
    }

    /** Names that vLLM had before 0.12, and ignores today. */
    @Test
    void formerNames_areIgnored() {
        String all =
                "\"guided_json\": 1, \"guided_choice\": [\"red\"], \"guided_regex\": \"(\", \"guided_grammar\": \"x\","
                        + " \"guided_decoding_backend\": \"outlines\"";

        assertThat(content(all)).isNotEqualTo("red").contains(" ");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        {"json": {}, "choice": ["a"]}          | null               | You can only use one kind of constraints for structured outputs
        {"json": {}, "grammar": "x"}           | structured_outputs | You can only use one kind of structured outputs constraint but multiple
        {}                                     | structured_outputs | You must use one kind of structured outputs constraint but none
        {"choice": []}                         | structured_outputs | Choice '[]' cannot be an empty list
        {"choice": "red"}                      | body.structured_outputs.choice | Input should be a valid list
        {"choice": [1]}                        | body.structured_outputs.choice | Input should be a valid string
        {"regex": 5}                           | body.structured_outputs.regex  | Input should be a valid string
        {"regex": "(?=a)b"}                    | structured_outputs | Failed to transform regex into a grammar: lookaround
        {"regex": "(a)\\1"}                    | structured_outputs | Failed to transform regex into a grammar
        {"json": 5}                            | body.structured_outputs.json   | Input should be a valid string or dictionary
        {"json": " "}                          | structured_outputs | structured_outputs.json cannot be an empty string
        {"json": "{"}                          | structured_outputs | Invalid JSON grammar specification.
        {"json": {"$ref": "#"}}                | structured_outputs | leads back to itself
        {"json_object": false}                 | structured_outputs | structured_outputs.json_object must be True if set
        {"grammar": "root ::= x"}              | structured_outputs | structured_outputs.grammar is not supported here
        {"grammar": ""}                        | structured_outputs | structured_outputs.grammar cannot be an empty string
        {"structural_tag": "{}"}               | structured_outputs | structured_outputs.structural_tag is not supported here
        []                                     | body.structured_outputs        | Input should be a valid dictionary
        """)
    void badInput_isRefused(String outputs, String param, String message) {
        requireRefused(chat("\"structured_outputs\": " + outputs.replace("\\", "\\\\")), param, message);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        "response_format": {"type": "structural_tag"}  | response_format | structural_tag is not supported here
        "response_format": {"type": "json_schema"}     | response_format | the 'json_schema' field must be provided
        "response_format": {"type": "json_object"}, "structured_outputs": {"choice": ["a"]} | structured_outputs | You can only use one kind
        "structured_outputs": {"regex": "a"}, "tool_choice": {"type": "function", "function": {"name": "weather"}} | null | structured outputs or tools, not both
        "structured_outputs": {"choice": ["a"]}, "tool_choice": "required" | null | structured outputs or tools, not both
        """)
    void badCombination_isRefused(String fields, String param, String message) {
        requireRefused(chat(fields + ", " + TOOLS), param, message);
    }

    @Test
    void completions_nameTheFieldOfSeveralKinds() {
        var reply = server.post(
                COMPLETIONS, "{\"prompt\": \"x\", \"structured_outputs\": {\"json\": {}, \"choice\": [\"a\"]}}");

        requireRefused(reply, "structured_outputs", "You can only use one kind of constraints");
    }

    @Test
    void response_isOneOfTheChoices_andHasOneConstraintOnly() {
        var said = server.post(
                "/v1/responses", "{\"input\": \"x\", \"structured_outputs\": {\"choice\": [\"red\", \"green\"]}}");
        assertThat(said.json().at("/output/0/content/0/text").asText()).isIn("red", "green");

        var both = "{\"input\": \"x\", \"structured_outputs\": {\"regex\": \"a\"}, \"text\": {\"format\":"
                + " {\"type\": \"json_object\"}}}";
        requireRefused(
                server.post("/v1/responses", both),
                "structured_outputs",
                "Cannot specify both structured_outputs and text.format");
    }

    private static void requireRefused(ServerFixture.Reply reply, String param, String message) {
        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.json().at("/error/param").asText()).isEqualTo(param);
        assertThat(reply.json().at("/error/message").asText()).contains(message);
    }

    private String content(String fields) {
        var reply = chat(fields);

        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
        return reply.json().at("/choices/0/message/content").asText();
    }

    private ServerFixture.Reply chat(String fields) {
        return server.post(CHAT, "{%s, %s}".formatted(QUESTION, fields));
    }
}
