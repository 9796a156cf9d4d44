package understudy.api.call;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import understudy.Waiting;
import understudy.api.http.Arrival;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;
import understudy.api.model.Answer;
import understudy.api.model.Tokenizer;
import understudy.cluster.RequestEvent;
import understudy.cluster.Router;
import understudy.engine.FinishReason;
import understudy.host.ClusterHost;
import understudy.prompt.SessionTurn;
import understudy.prompt.TokenIds;
import understudy.report.Outcome;

/** Calls in front of a router that only notes what comes. */
final class CallTest {
    private static final Tokenizer TOKENIZER = Tokenizer.Vocabulary.CL100K_BASE.load();
    private static final RequestEvent.Timing TIMING = new RequestEvent.Timing(0, 0, 0, 0);

    @AutoClose
    private final ClusterHost host = ClusterHost.create("calls");

    private final Queue<Router.Command> sent = new ConcurrentLinkedQueue<>();
    private final List<CallEvent> events = new ArrayList<>();
    private final ClusterLink link = new ClusterLink(
            host,
            host.time().system(),
            host.spawn(
                    Behaviors.receiveMessage(message -> {
                        sent.add(message);
                        return Behaviors.same();
                    }),
                    "router"),
            new KeptKv(host, host.time().system()),
            new AdmissionControl(new AdmissionLimits(0, 0), reason -> {}),
            List.of());
    private final Call call = new Call(link, events::add);

    @Test
    void callIsDone_whenItsLastAnswerIs() {
        var generations = start(2, "");
        call.on(generations.get(0), new RequestEvent.Admitted(0, 0));
        call.on(generations.get(0), new RequestEvent.Token(0, 1, 5));
        call.on(generations.get(1), finished(1, 3));
        assertThat(call.done().toCompletableFuture()).isNotDone();
        call.on(generations.get(0), finished(0, 3));

        assertThat(call.done().toCompletableFuture()).isDone();
        assertThat(events.get(0)).isEqualTo(CallEvent.Admitted.NOW);
        assertThat(pieces()).extracting(piece -> piece.delta().choice()).containsExactly(0, 1, 0);
        assertThat(pieces()).extracting(CallEvent.Piece::isLast).containsExactly(false, false, true);
        // The first token has gone out; the other two come with the end.
        assertThat(pieces().get(2).delta().fromToken()).isEqualTo(1);
        assertThat(pieces().get(2).delta().toToken()).isEqualTo(3);
    }

    @Test
    void nothingFollowsAFailure_andTheOtherAnswersAreGivenUp() {
        var generations = start(2, "");
        call.on(generations.get(0), new RequestEvent.Rejected(0, Outcome.QUEUE_FULL, "too many", 5));
        call.on(generations.get(1), finished(1, 3));

        assertThat(events).singleElement().isInstanceOfSatisfying(CallEvent.Failed.class, failed -> {
            assertThat(failed.failure().status()).isEqualTo(429);
            assertThat(failed.failure().message()).isEqualTo("too many");
        });
        assertThat(call.done().toCompletableFuture()).isDone();
        assertThat(aborted(2)).containsExactly(0L, 1L);
    }

    @Test
    void crashAndReset_areCuts() {
        var generation = start(1, "").get(0);
        call.on(generation, new RequestEvent.Failed(0, RequestEvent.FailureCause.RESET, "reset", 0, 1, 5, TIMING, 0));

        assertThat(events).singleElement().isInstanceOfSatisfying(CallEvent.Cut.class, cut -> {
            assertThat(cut.failure().status()).isEqualTo(500);
            assertThat(cut.isReset()).isTrue();
        });
    }

    @Test
    void stopString_isToldToTheEngineOnce() {
        var generation = start(1, "b").get(0);
        call.on(generation, new RequestEvent.Token(0, 1, 5));
        call.on(generation, new RequestEvent.Token(0, 2, 10));
        call.on(generation, new RequestEvent.Token(0, 3, 15));
        call.on(generation, finished(0, 3));

        // The answer is "a", "b", "c": its second token has the stop string, before which its text ends.
        assertThat(pieces()).extracting(piece -> piece.delta().text()).containsExactly("a", "");
        assertThat(pieces().get(1).delta().ending()).isEqualTo(new Delta.Ending("stop", "b", 0));
        assertThat(pieces().get(1).delta().toToken()).isEqualTo(2);
        assertThat(aborted(1)).containsExactly(0L);
    }

    private List<CallEvent.Piece> pieces() {
        return events.stream()
                .filter(CallEvent.Piece.class::isInstance)
                .map(CallEvent.Piece.class::cast)
                .toList();
    }

    /** Returns the numbers of the requests that were given up; there are so many of them. */
    private List<Long> aborted(int count) {
        Waiting.until(() -> abortedNow().size() >= count);
        return abortedNow();
    }

    private List<Long> abortedNow() {
        return sent.stream()
                .filter(Router.Abort.class::isInstance)
                .map(message -> ((Router.Abort) message).requestId())
                .toList();
    }

    private List<Generation> start(int numChoices, String stop) {
        var body = Json.object().put("stream", true);
        if (!stop.isEmpty()) {
            body.put("stop", stop);
        }
        var params = GenerationParams.read(new JsonBody(body), List.of(), 10, -1);
        call.start(
                IntStream.range(0, numChoices).mapToObj(i -> spec(i, params)).toList(),
                Arrival.of(HttpRequest.create(), 0));
        var newestFirst = link.newestInFlight(numChoices);
        return IntStream.range(0, numChoices)
                .mapToObj(i -> newestFirst.get(numChoices - 1 - i))
                .toList();
    }

    private static Generation.Spec spec(int choice, GenerationParams params) {
        int[] letters = {token("a"), token("b"), token("c")};
        return GenerationSpecBuilder.builder()
                .choice(choice)
                .name("name-" + choice)
                .prompt(new TokenIds(1, 2, 3))
                .loraName("")
                .turn(SessionTurn.NONE)
                .params(params)
                .maxTokens(10)
                .maxModelLen(100)
                .answer(new Answer(index -> letters[index % 3], 10, List.of()))
                .tokenizer(TOKENIZER)
                .build();
    }

    private static int token(String text) {
        return TOKENIZER.encode(text)[0];
    }

    private static RequestEvent.Finished finished(long id, int numTokens) {
        return new RequestEvent.Finished(id, FinishReason.LENGTH, 0, numTokens, 20, TIMING);
    }
}
