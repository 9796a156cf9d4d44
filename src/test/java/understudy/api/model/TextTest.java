package understudy.api.model;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;
import understudy.jsonsample.SchemaSample;
import understudy.prompt.TokenIds;
import understudy.workload.RandomStreams;

/** Tokens to text and back. */
final class TextTest {
    private static final Tokenizer TOKENIZER = Tokenizer.Vocabulary.CL100K_BASE.load();

    @ParameterizedTest
    @EnumSource(Tokenizer.Vocabulary.class)
    void prose_encodedAgain_givesTheSameTokens(Tokenizer.Vocabulary vocabulary) {
        var tokenizer = vocabulary.load();
        var prose = new Prose(tokenizer);
        for (int seed = 0; seed < 300; seed++) {
            var tokens = new int[1 + seed];
            prose.tokens(seed * 0x9E3779B97F4A7C15L, false).copy(0, tokens.length, tokens, 0);

            assertThat(tokenizer.encode(tokenizer.decode(new TokenIds(tokens)))).isEqualTo(tokens);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"Once upon a time", "Ends with a mark.", "a line\n", "a number 12", "code {", "gap "})
    void proseBehindAPrompt_leavesThePromptsTokensAsTheyAre(String prompt) {
        var answer = new int[40];
        new Prose(TOKENIZER).tokens(7, true).copy(0, answer.length, answer, 0);
        var prefix = TOKENIZER.encode(prompt);

        var again = TOKENIZER.encode(prompt + TOKENIZER.decode(new TokenIds(answer)));

        assertThat(Arrays.copyOf(again, prefix.length)).isEqualTo(prefix);
        assertThat(Arrays.copyOfRange(again, prefix.length, again.length)).isEqualTo(answer);
    }

    @Test
    void nextTurn_beginsWithTheTokensOfTheTurnBeforeAndItsAnswer() {
        var template = new MarkedTemplate(TOKENIZER);
        var question = new ChatMessage("user", "Hello there", List.of());
        var first = tokens(template.render(chat(question)));
        var answer = new int[25];
        new Prose(TOKENIZER).tokens(3, false).copy(0, answer.length, answer, 0);
        var said = new ChatMessage("assistant", TOKENIZER.decode(new TokenIds(answer)), List.of());

        var second = tokens(template.render(chat(question, said, question)));

        assertThat(Arrays.copyOf(second, first.length)).isEqualTo(first);
        assertThat(Arrays.copyOfRange(second, first.length, first.length + 25)).isEqualTo(answer);
        assertThat(second[first.length + 25]).isEqualTo(TOKENIZER.endToken());
    }

    private static ChatPrompt chat(ChatMessage... messages) {
        return ChatPrompt.read(new JsonBody(Json.object()), List.of(messages), null);
    }

    private static int[] tokens(PromptText prompt) {
        return prompt.encode(TOKENIZER, Integer.MAX_VALUE);
    }

    @Test
    void detokenizer_waitsForAllBytesOfACharacter() {
        var detokenizer = new Detokenizer();
        var bytes = "é€😀".getBytes(StandardCharsets.UTF_8);
        var pieces = new ArrayList<String>();

        for (byte each : bytes) {
            pieces.add(detokenizer.append(Tokenizer.TokenText.of(new byte[] {each})));
        }

        // Two, three and four bytes: each character comes with its last one.
        assertThat(pieces).containsExactly("", "é", "", "", "€", "", "", "", "😀");
        assertThat(detokenizer.end()).isEmpty();
    }

    @Test
    void detokenizer_replacesWhatIsIncompleteAtTheEnd() {
        var detokenizer = new Detokenizer();

        assertThat(detokenizer.append(Tokenizer.TokenText.of(new byte[] {(byte) 0xE2, (byte) 0x82})))
                .isEmpty();
        assertThat(detokenizer.end()).isEqualTo("\uFFFD");
    }

    @Test
    void stopString_isFoundAcrossPieces_andNothingOfItIsSentBefore() {
        var stops = new StopStrings(List.of("END"), false);

        // As long as two characters are held back, no beginning of the stop string can slip out.
        assertThat(stops.append("one E", true)).isEqualTo("one");
        assertThat(stops.append("N", true)).isEqualTo(" ");
        assertThat(stops.append("D two", true)).isEmpty();
        assertThat(stops.found()).isEqualTo("END");
    }

    @Test
    void stopString_isPartOfTheTextIfAskedFor() {
        var stops = new StopStrings(List.of("x", "END"), true);

        assertThat(stops.append("one END two", true)).isEqualTo("one END");
        assertThat(stops.found()).isEqualTo("END");
    }

    @Test
    void stopString_doesNotCountBeforeTheLeastTokens() {
        var stops = new StopStrings(List.of("a"), false);

        assertThat(stops.append("aaa", false) + stops.append("b", true) + stops.end())
                .isEqualTo("aaab");
        assertThat(stops.found()).isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"},\"days\":{\"type\":\"integer\",\"minimum\":1,"
                        + "\"maximum\":14}},\"required\":[\"city\",\"days\"],\"additionalProperties\":false}",
                "{\"type\":\"array\",\"items\":{\"enum\":[\"a\",\"b\"]},\"minItems\":2,\"maxItems\":4}",
                "{\"$ref\":\"#/$defs/node\",\"$defs\":{\"node\":{\"type\":\"object\",\"properties\":{\"next\":{\"anyOf\":[{\"type\":"
                        + "\"null\"},{\"$ref\":\"#/$defs/node\"}]},\"value\":{\"type\":\"number\",\"exclusiveMinimum\":0}},"
                        + "\"required\":[\"value\"]}}}",
                "{\"type\":[\"integer\",\"null\"],\"multipleOf\":5,\"minimum\":-7,\"maximum\":3}",
                "{\"type\":\"string\",\"minLength\":20,\"maxLength\":30}",
                "{\"const\":{\"a\":1}}",
                "{\"type\":\"number\",\"maximum\":-5}"
            })
    void schemaSample_isAcceptedByItsSchema(String text) {
        var node = Json.read(text);
        var schema = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
                .getSchema(node);
        for (int i = 0; i < 50; i++) {
            var sample = new SchemaSample(node, "schema").sample(new RandomStreams(i).stream("test"));

            assertThat(schema.validate(sample)).as(sample.toString()).isEmpty();
        }
    }
}
