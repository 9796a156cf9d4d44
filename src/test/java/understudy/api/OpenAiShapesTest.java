package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import understudy.api.OpenAiShapes.Violation;
import understudy.api.http.Json;

/** Every answer, and every event of a streamed one, is what OpenAI describes, but for what vLLM does differently, too. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class OpenAiShapesTest {
    private static final OpenAiShapes SHAPES = new OpenAiShapes();
    private static final VllmDeviations DEVIATIONS = new VllmDeviations();

    @AutoClose
    private final ServerFixture server = new ServerFixture();

    private final Map<ShapeRequest, String> answers = new HashMap<>();

    OpenAiShapesTest() {
        server.speed = 1000;
        server.apiKey = "key";
        server.start();
    }

    static List<ShapeRequest> requests() {
        return ShapeRequest.all();
    }

    static Stream<ShapeRequest> chunked() {
        return requests().stream()
                .filter(request -> !request.path().equals(ShapeRequest.RESPONSES))
                .filter(request -> request.mode() != ShapeRequest.Mode.WHOLE);
    }

    static Stream<ShapeRequest> streamedResponses() {
        return requests().stream()
                .filter(request -> request.path().equals(ShapeRequest.RESPONSES))
                .filter(request -> request.mode() != ShapeRequest.Mode.WHOLE);
    }

    static List<ShapeRequest> errors() {
        return ShapeRequest.errors();
    }

    @ParameterizedTest
    @MethodSource({"requests", "errors"})
    void answer_hasTheShapeOfOpenAi(ShapeRequest request) {
        assertThat(unknown(violations(request))).as(answer(request)).isEmpty();
    }

    @Test
    void listedDeviations_areThere() {
        var seen = new ArrayList<Violation>();
        Stream.concat(requests().stream(), errors().stream()).forEach(request -> seen.addAll(violations(request)));

        assertThat(DEVIATIONS.without(seen)).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("chunked")
    void chunks_belongTogether(ShapeRequest request) {
        var stream = EventStream.parse(answer(request));
        var chunks = stream.events().stream().map(EventStream.Event::data).toList();

        assertThat(stream.isDone()).isTrue();
        assertThat(stream.events()).extracting(EventStream.Event::name).containsOnly("");
        assertThat(chunks)
                .extracting(chunk -> chunk.get("id"))
                .containsOnly(chunks.get(0).get("id"));
        assertThat(chunks)
                .extracting(chunk -> chunk.get("created"))
                .containsOnly(chunks.get(0).get("created"));
        assertThat(endings(chunks))
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, numAnswers(request)).boxed().toList());
        boolean isCounted = request.mode() != ShapeRequest.Mode.STREAMED;
        var last = chunks.get(chunks.size() - 1);
        assertThat(last.get("choices").isEmpty()).isEqualTo(isCounted);
        assertThat(last.has("usage")).isEqualTo(isCounted);
        boolean isAlwaysCounted = request.mode() == ShapeRequest.Mode.WITH_CONTINUOUS_USAGE;
        assertThat(chunks.subList(0, chunks.size() - 1))
                .allMatch(chunk -> chunk.has("usage") == isAlwaysCounted
                        && !chunk.get("choices").isEmpty());
    }

    /** Returns the index of each answer whose end is told, as often as it is told. */
    private static List<Integer> endings(List<JsonNode> chunks) {
        var endings = new ArrayList<Integer>();
        for (var chunk : chunks) {
            for (var choice : chunk.get("choices")) {
                if (!choice.get("finish_reason").isNull()) {
                    endings.add(choice.get("index").asInt());
                }
            }
        }
        return endings;
    }

    private static int numAnswers(ShapeRequest request) {
        var prompt = request.body().path("prompt");
        boolean isList = prompt.isArray() && !prompt.get(0).isNumber();
        return request.body().path("n").asInt(1) * (isList ? prompt.size() : 1);
    }

    @ParameterizedTest
    @MethodSource("streamedResponses")
    void responseEvents_belongTogether(ShapeRequest request) {
        var stream = EventStream.parse(answer(request));
        var events = stream.events().stream().map(EventStream.Event::data).toList();

        assertThat(stream.isDone()).isFalse();
        assertThat(stream.events())
                .allMatch(event -> event.name().equals(event.data().get("type").asText()));
        assertThat(events)
                .extracting(event -> event.get("sequence_number").asInt())
                .containsExactlyElementsOf(
                        IntStream.range(0, events.size()).boxed().toList());
        assertThat(events)
                .extracting(event -> event.get("type").asText())
                .startsWith("response.created", "response.in_progress", "response.output_item.added");
        var end = events.get(events.size() - 1).get("response");
        var item = end.at("/output/0");
        assertThat(values(events, "/response/id")).containsOnly(end.get("id").asText());
        assertThat(values(events, "/item_id")).containsOnly(item.get("id").asText());
        assertThat(values(events, "/item/id")).containsOnly(item.get("id").asText());
        boolean isCall = item.get("type").asText().equals("function_call");
        String said = item.at(isCall ? "/arguments" : "/content/0/text").asText();
        assertThat(String.join("", values(events, "/delta"))).isEqualTo(said);
        assertThat(values(events, isCall ? "/arguments" : "/text")).containsExactly(said);
        assertThat(values(events, isCall ? "/item/arguments" : "/item/content/0/text"))
                .endsWith(said);
    }

    private static List<String> values(List<JsonNode> events, String pointer) {
        return events.stream()
                .map(event -> event.at(pointer))
                .filter(value -> !value.isMissingNode())
                .map(JsonNode::asText)
                .toList();
    }

    @Test
    void models_haveTheShapeOfOpenAi() {
        var models = server.get("/v1/models", "Authorization", "Bearer key").json();

        assertThat(unknown(SHAPES.violations("models", models))).isEmpty();
        assertThat(models.at("/data/0/id").asText()).isEqualTo("m");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/v1/chat/completions | true  | \"max_tokens\": 2000, \"messages\": [{\"role\": \"user\", \"content\": \"a\"}]",
                "/v1/completions      | true  | \"max_tokens\": 2000, \"prompt\": \"a\"",
                "/v1/responses        | false | \"max_output_tokens\": 2000, \"input\": \"a\"",
            })
    void streamThatBreaksOff_endsWithAnError(String path, boolean isDone, String fields)
            throws IOException, InterruptedException {
        // 2,000 tokens at 5 ms take ten seconds, so that some of the answer is still to come.
        String body = "{\"stream\": true, \"ignore_eos\": true, " + fields + "}";
        try (var server = new ServerFixture()) {
            server.speed = 1;
            server.drainTimeout = Duration.ZERO;
            server.start();
            var request = server.request(path).POST(BodyPublishers.ofString(body));
            var begun = server.client().send(request.build(), BodyHandlers.ofInputStream());
            server.server().drain();
            var stream = EventStream.parse(new String(begun.body().readAllBytes(), StandardCharsets.UTF_8));

            assertThat(stream.isDone()).isEqualTo(isDone);
            var last = stream.events().get(stream.events().size() - 1).data();
            assertThat(last.findValuesAsText("message")).containsExactly("The server is shutting down.");
            String shape = isDone ? "error body" : "error";
            assertThat(unknown(SHAPES.violations(shape, last))).isEmpty();
        }
    }

    private static List<Violation> unknown(List<Violation> violations) {
        return violations.stream()
                .filter(violation -> !DEVIATIONS.isKnown(violation))
                .toList();
    }

    private List<Violation> violations(ShapeRequest request) {
        String answer = answer(request);
        var violations = new ArrayList<Violation>();
        if (request.mode() == ShapeRequest.Mode.WHOLE) {
            addViolations(request, Json.read(answer), violations);
        } else {
            EventStream.parse(answer).events().forEach(event -> addViolations(request, event.data(), violations));
        }
        return violations;
    }

    private static void addViolations(ShapeRequest request, JsonNode piece, List<Violation> violations) {
        violations.addAll(SHAPES.violations(request.shape(piece), piece));
    }

    /** Each request is sent once. */
    private String answer(ShapeRequest request) {
        return answers.computeIfAbsent(request, this::send);
    }

    private String send(ShapeRequest request) {
        var headers = new ArrayList<>(request.headers());
        if (!headers.contains("Authorization")) {
            headers.addAll(List.of("Authorization", "Bearer key"));
        }
        var reply = server.post(request.path(), request.body().toString(), headers.toArray(String[]::new));
        assertThat(reply.status()).as(reply.text()).isEqualTo(request.status());
        return reply.text();
    }
}
