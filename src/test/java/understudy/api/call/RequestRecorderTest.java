package understudy.api.call;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import understudy.api.http.Arrival;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;
import understudy.api.model.Answer;
import understudy.api.model.Tokenizer;
import understudy.cluster.RequestEvent;
import understudy.engine.FinishReason;
import understudy.prompt.SessionTurn;
import understudy.prompt.TokenIds;

/** What is written of calls that overlap; blocks have 4 tokens, and prompts 8. */
final class RequestRecorderTest {
    private static final HttpRequest BY_ITSELF = HttpRequest.create();
    private static final HttpRequest OF_ACME =
            HttpRequest.create().addHeader(RawHeader.create("x-gateway-inference-fairness-id", "acme"));

    @TempDir
    private Path directory;

    private int numGenerations;

    /** The first to come is the last to end, and the second never gets a token. */
    @Test
    void lines_standInTheOrderOfArrival() throws IOException {
        var file = directory.resolve("today.jsonl");
        try (var recorder = new RequestRecorder(file, 4, false)) {
            var first = submit(recorder, 10, call(""));
            var failed = submit(recorder, 20, call(""));
            var third = submit(recorder, 30, call(""));
            var fourth = submit(recorder, 40, call(""));
            end(recorder, fourth, 4);
            end(recorder, failed, 0);
            end(recorder, third, 3);
            assertThat(lines(file)).as("none can be written yet").isEmpty();

            end(recorder, first, 1);
            assertThat(lengths(file)).containsExactly(1, 3, 4);

            var fifth = submit(recorder, 50, call(""));
            var sixth = submit(recorder, 60, call(""));
            end(recorder, sixth, 6);
            assertThat(lengths(file)).containsExactly(1, 3, 4);
            recorder.onRejected(fifth);
            assertThat(lengths(file)).containsExactly(1, 3, 4, 6);
        }
        assertThat(lines(file))
                .extracting(line ->
                        line.get("time").decimalValue().movePointRight(9).intValueExact())
                .containsExactly(10, 30, 40, 60);
    }

    @Test
    void recordThatEnds_isCompleteUpToItsEnd() throws IOException {
        var file = directory.resolve("today.jsonl");
        try (var recorder = new RequestRecorder(file, 4, false)) {
            submit(recorder, 10, call(""));
            end(recorder, submit(recorder, 20, call("")), 2);
        }

        assertThat(lengths(file)).containsExactly(2);
    }

    @Test
    void adapters_areNamed_andHaveBlocksOfTheirOwn() throws IOException {
        var lines = record(call("sql"), call("chat"), call(""));

        assertThat(lines.get(0).get("lora").asText()).isEqualTo("sql");
        assertThat(lines.get(1).get("lora").asText()).isEqualTo("chat");
        assertThat(lines.get(2).has("lora")).isFalse();
        assertThat(lines).extracting(line -> line.get("hash_ids")).doesNotHaveDuplicates();
    }

    @Test
    void salt_keepsEqualPromptsApart() throws IOException {
        var lines = record(
                call("", "cache_salt", "one"), call("", "cache_salt", "two"), call("", "cache_salt", "one"), call(""));

        var blocks = lines.stream().map(line -> line.get("hash_ids")).toList();
        assertThat(blocks.get(0)).hasSize(2).isEqualTo(blocks.get(2));
        assertThat(List.of(blocks.get(0), blocks.get(1), blocks.get(3))).doesNotHaveDuplicates();
    }

    @Test
    void ignoreEos_isWrittenAsSent() throws IOException {
        var ignoring = call("", BY_ITSELF, Json.object().put("ignore_eos", true));

        assertThat(record(ignoring, call("")))
                .extracting(line -> line.get("ignore_eos").asBoolean())
                .containsExactly(true, false);
    }

    @Test
    void tenantOfTheHeader_precedesTheUser() throws IOException {
        var bob = Json.object().put("user", "bob");
        var lines =
                record(call("", OF_ACME, bob), call("", BY_ITSELF, bob), call("", OF_ACME, Json.object()), call(""));

        assertThat(lines).extracting(line -> line.path("user").asText()).containsExactly("acme", "bob", "acme", "");
    }

    /** Records calls one after the other, each with one token. */
    private List<JsonNode> record(Generation... calls) throws IOException {
        var file = directory.resolve("today.jsonl");
        try (var recorder = new RequestRecorder(file, 4, false)) {
            for (var call : calls) {
                end(recorder, submit(recorder, 0, call), 1);
            }
        }
        return lines(file);
    }

    private static Generation submit(RequestRecorder recorder, long atNanos, Generation generation) {
        generation.request(atNanos, Double.POSITIVE_INFINITY);
        recorder.onSubmitted(generation);
        return generation;
    }

    private static void end(RequestRecorder recorder, Generation generation, int numTokens) {
        var timing = new RequestEvent.Timing(0, 0, 0, 0);
        recorder.onEnded(
                new RequestEvent.Finished(generation.id(), FinishReason.STOP, 0, numTokens, 100, timing), generation);
    }

    private static List<Integer> lengths(Path file) throws IOException {
        return lines(file).stream()
                .map(line -> line.get("output_length").asInt())
                .toList();
    }

    /** Returns the lines behind the header. */
    private static List<JsonNode> lines(Path file) throws IOException {
        var lines = new ArrayList<JsonNode>();
        for (String line : Files.readAllLines(file)) {
            lines.add(new ObjectMapper().readTree(line));
        }
        return lines.subList(1, lines.size());
    }

    private Generation call(String lora) {
        return call(lora, BY_ITSELF, Json.object());
    }

    private Generation call(String lora, String field, String value) {
        return call(lora, BY_ITSELF, Json.object().put(field, value));
    }

    private Generation call(String lora, HttpRequest request, ObjectNode body) {
        var spec = GenerationSpecBuilder.builder()
                .name("name")
                .prompt(new TokenIds(1, 2, 3, 4, 5, 6, 7, 8))
                .loraName(lora)
                .turn(SessionTurn.NONE)
                .params(GenerationParams.read(new JsonBody(body), List.of(), 1, -1))
                .maxTokens(10)
                .maxModelLen(100)
                .answer(new Answer(index -> 7, 10, List.of()))
                .tokenizer(Tokenizer.Vocabulary.CL100K_BASE.load())
                .build();
        return new Generation(numGenerations++, spec, Arrival.of(request, 0));
    }
}
