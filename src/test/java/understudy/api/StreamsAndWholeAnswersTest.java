package understudy.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import understudy.api.ShapeRequest.Mode;
import understudy.api.http.Json;

/**
 * A stream says what the answer in one piece says: the text, why it ends, and what is to be paid for. Blocks have one
 * token, so that a prompt that has been asked before is cached but for its last token.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class StreamsAndWholeAnswersTest {
    @AutoClose
    private final ServerFixture server = new ServerFixture();

    StreamsAndWholeAnswersTest() {
        server.speed = 1000;
        server.numBlocks = 10_000;
        server.moreSettings = "kv-cache.block-size = 1";
        server.start();
    }

    static Stream<ShapeRequest> requests() {
        return ShapeRequest.all().stream().filter(request -> request.mode() == Mode.WHOLE);
    }

    /** What one choice comes to. */
    private record Choice(String text, String finishReason, String stopReason) {}

    @ParameterizedTest
    @MethodSource("requests")
    void stream_addsUpToTheWholeAnswer(ShapeRequest request) {
        post(request, Mode.WHOLE);
        var whole = Json.read(post(request, Mode.WHOLE));
        var usage = whole.get("usage");
        boolean isResponse = request.path().equals(ShapeRequest.RESPONSES);

        int numPrompt = usage.get(isResponse ? "input_tokens" : "prompt_tokens").asInt();
        int numCached = usage.get(isResponse ? "input_tokens_details" : "prompt_tokens_details")
                .get("cached_tokens")
                .asInt();
        // Log probabilities of the prompt are not in the cache.
        boolean isCached = !(request.body().has("echo") && request.body().has("logprobs"));
        assertThat(numCached)
                .as("all but the last token of each prompt")
                .isEqualTo(isCached ? numPrompt - numPrompts(request) : 0);
        if (isResponse) {
            var events = EventStream.parse(post(request, Mode.STREAMED)).events();
            var end = events.get(events.size() - 1).data().get("response");
            assertThat(end.get("usage")).isEqualTo(usage);
            assertThat(end.get("status")).isEqualTo(whole.get("status"));
            return;
        }
        var choices = choices(List.of(whole));
        for (var mode : List.of(Mode.WITH_USAGE, Mode.WITH_CONTINUOUS_USAGE)) {
            var chunks = EventStream.parse(post(request, mode)).events().stream()
                    .map(EventStream.Event::data)
                    .toList();
            assertThat(chunks.get(chunks.size() - 1).get("usage")).isEqualTo(counts(usage));
            assertThat(choices(chunks)).isEqualTo(choices);
        }
        assertThat(choices.values()).allSatisfy(choice -> requireStopReason(request, choice));
    }

    /** Only a whole answer has a field for details of what it says, in vLLM, too. */
    private static JsonNode counts(JsonNode usage) {
        return ((ObjectNode) usage.deepCopy()).without("completion_tokens_details");
    }

    /** As vLLM has it: the string or the token at which an answer stopped, and nothing where it ended by itself. */
    private static void requireStopReason(ShapeRequest request, Choice choice) {
        var stops = request.body().path("stop");
        boolean mayStop = choice.finishReason().equals("stop");
        if (mayStop && request.body().has("stop_token_ids")) {
            assertThat(choice.stopReason()).isEqualTo("13");
        } else if (mayStop && request.body().path("ignore_eos").asBoolean() && !stops.isMissingNode()) {
            assertThat(choice.stopReason()).isEqualTo(stops.asText());
        } else if (stops.isArray()) {
            assertThat(choice.stopReason())
                    .isIn("null", stops.get(0).asText(), stops.get(1).asText());
        } else {
            assertThat(choice.stopReason()).isEqualTo("null");
        }
    }

    private static int numPrompts(ShapeRequest request) {
        var prompt = request.body().path("prompt");
        return prompt.isArray() && !prompt.get(0).isNumber() ? prompt.size() : 1;
    }

    /** Returns the choices of an answer, by index, from all its pieces. */
    private static SortedMap<Integer, Choice> choices(List<JsonNode> pieces) {
        var choices = new TreeMap<Integer, Choice>();
        for (var piece : pieces) {
            for (var choice : piece.get("choices")) {
                var part = new Choice(
                        text(choice),
                        choice.path("finish_reason").asText(),
                        choice.path("stop_reason").asText("null"));
                choices.merge(
                        choice.get("index").asInt(),
                        part,
                        (before, next) -> new Choice(before.text + next.text, next.finishReason, next.stopReason));
            }
        }
        return choices;
    }

    /** Returns what a choice, or its piece, says: text, and the arguments of calls. */
    private static String text(JsonNode choice) {
        var said = choice.has("message") ? choice.get("message") : choice.path("delta");
        var calls = said.path("tool_calls");
        var text = new StringBuilder(
                choice.path("text").asText() + said.path("content").asText(""));
        calls.forEach(call -> text.append(call.at("/function/arguments").asText()));
        return text.toString();
    }

    /** The same call is answered alike whenever it comes, and in whatever way. */
    private String post(ShapeRequest request, Mode mode) {
        var sent = ShapeRequest.all().stream()
                .filter(each ->
                        each.name().equals(request.name()) && each.path().equals(request.path()))
                .filter(each -> each.mode() == mode)
                .findFirst()
                .orElseThrow();
        ObjectNode body = sent.body().deepCopy();
        if (request.path().equals(ShapeRequest.RESPONSES)) {
            body.put("temperature", 0);
        } else {
            body.put("seed", 7);
        }
        var reply = server.post(request.path(), body.toString());
        assertThat(reply.status()).as(reply.text()).isEqualTo(200);
        return reply.text();
    }
}
