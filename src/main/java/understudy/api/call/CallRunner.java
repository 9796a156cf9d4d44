package understudy.api.call;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.pekko.NotUsed;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.http.scaladsl.model.ContentType;
import org.apache.pekko.http.scaladsl.model.HttpEntity;
import org.apache.pekko.stream.javadsl.Source;
import understudy.api.http.ApiException;
import understudy.api.http.Arrival;
import understudy.api.http.ClientConnection;
import understudy.api.http.Ending;
import understudy.api.http.Json;

/**
 * Runs calls: sends their requests to the cluster, and makes responses of what comes back, streamed or in one piece.
 */
public final class CallRunner {
    private final ApiContext api;

    public CallRunner(ApiContext api) {
        this.api = api;
    }

    /** Starts a call and returns its response. */
    public CompletionStage<HttpResponse> run(
            HttpRequest request, GenerationParams params, List<Generation.Spec> specs, CallFormat format) {
        var response = params.streams() ? stream(request, specs, format) : runWhole(request, specs, format::whole);
        boolean hasLogprobs = params.numLogprobs() >= 0 || params.numPromptLogprobs() >= 0;
        return hasLogprobs ? response.thenApply(CallRunner::markedAsSynthetic) : response;
    }

    /** Log probabilities are made up, and say so. */
    private static HttpResponse markedAsSynthetic(HttpResponse response) {
        return response.addHeader(RawHeader.create("X-Understudy-Synthetic", "logprobs"));
    }

    /** Refuses a call that has no room, or whose headers make no sense. */
    private Arrival admit(HttpRequest request, List<Generation.Spec> specs) {
        requireRoom();
        var arrival = Arrival.of(request, api.cluster().time().nowNanos());
        requireRank(arrival, specs);
        return arrival;
    }

    private void requireRoom() {
        int limit = api.settings().http().limits().maxInFlight();
        if (limit > 0 && api.state().numInFlight() >= limit) {
            throw new ApiException(429, "RateLimitError", "Too many requests in flight; at most " + limit + ".", null);
        }
    }

    /** At a replica's own port there is one rank, as at each port of vLLM's with {@code --data-parallel-external-lb}. */
    private void requireRank(Arrival arrival, List<Generation.Spec> specs) {
        boolean isOwnPort = !specs.isEmpty() && specs.get(0).replica().isPresent();
        int numRanks = isOwnPort ? 1 : api.cluster().numReplicas();
        long rank = arrival.rank().orElse(0);
        if (rank < 0 || rank >= numRanks) {
            throw ApiException.badRequest(
                    "data_parallel_rank " + rank + " is out of range [0, " + numRanks + ").", "data_parallel_rank");
        }
    }

    private void register(HttpRequest request, Call call) {
        if (!api.state().add(call)) {
            // The server has begun to drain, or has failed, since the head of the request came.
            throw api.state().refusal().orElseThrow();
        }
        request.getAttribute(ClientConnection.KEY).ifPresent(connection -> connection.carry(call));
        var timeout = api.settings().http().timeouts().request();
        if (!timeout.isZero()) {
            expire(call, timeout);
        }
    }

    private void expire(Call call, Duration timeout) {
        var failure = new ApiException(504, "GatewayTimeout", "The request took longer than " + timeout + ".", null);
        var timer = api.system()
                .scheduler()
                .scheduleOnce(timeout, () -> call.fail(failure), api.system().executionContext());
        call.done().whenComplete((done, error) -> timer.cancel());
    }

    /**
     * Starts a call that is not streamed, and returns its response.
     *
     * @param body makes its body of the complete choices, each in one piece
     */
    public CompletionStage<HttpResponse> runWhole(
            HttpRequest request,
            List<Generation.Spec> specs,
            Function<List<CallEvent.Piece>, ? extends JsonNode> body) {
        var arrival = admit(request, specs);
        var answer = new CompletableFuture<List<CallEvent.Piece>>();
        var call = new Call(api.link(), new Collector(specs.size(), answer));
        call.done().whenComplete((done, failure) -> {
            call.close();
            // This is not read, unless there is an answer already; but the library waits for it.
            answer.completeExceptionally(ApiException.badRequest("The client has gone away.", null));
        });
        register(request, call);
        call.start(specs, arrival);
        return answer.thenApply(choices -> HttpResponse.create()
                .withEntity(HttpEntities.create(ContentTypes.APPLICATION_JSON, Json.bytes(body.apply(choices)))));
    }

    private CompletionStage<HttpResponse> stream(HttpRequest request, List<Generation.Spec> specs, CallFormat format) {
        var arrival = admit(request, specs);
        var connection = request.getAttribute(ClientConnection.KEY).orElseGet(() -> new ClientConnection(() -> {}));
        int ordinal = request.getAttribute(ClientConnection.ORDINAL).orElse(0);
        var call = new StreamedCall(api, format, connection, ordinal);
        register(request, call.call());
        return call.begin(specs, arrival)
                .thenApply(events -> responseOf(events, (ContentType) format.streamType())
                        .addAttribute(Ending.KEY, new Ending(call.call().closed())));
    }

    private static HttpResponse responseOf(Source<HttpEntity.ChunkStreamPart, NotUsed> events, ContentType type) {
        return HttpResponse.create()
                .withEntity(new HttpEntity.Chunked(
                        type,
                        events.<Object>mapMaterializedValue(value -> value).asScala()))
                .addHeader(RawHeader.create("Cache-Control", "no-cache"))
                .addHeader(RawHeader.create("X-Accel-Buffering", "no"));
    }

    /** Collects answers until all are complete. */
    private static final class Collector implements Consumer<CallEvent> {
        private final CompletableFuture<List<CallEvent.Piece>> all;
        private final StringBuilder[] texts;
        private final CallEvent.Piece[] complete;

        Collector(int numChoices, CompletableFuture<List<CallEvent.Piece>> all) {
            this.all = all;
            texts = new StringBuilder[numChoices];
            complete = new CallEvent.Piece[numChoices];
        }

        @Override
        public void accept(CallEvent event) {
            if (event instanceof CallEvent.Piece piece) {
                add(piece);
            } else if (event instanceof CallEvent.Failed failed) {
                all.completeExceptionally(failed.failure());
            } else if (event instanceof CallEvent.Cut cut) {
                all.completeExceptionally(cut.failure());
            }
        }

        private void add(CallEvent.Piece piece) {
            var delta = piece.delta();
            int choice = delta.choice();
            if (texts[choice] == null) {
                texts[choice] = new StringBuilder();
            }
            texts[choice].append(delta.text());
            if (delta.ending() != null) {
                var whole = new Delta(choice, 0, delta.toToken(), texts[choice].toString(), delta.ending());
                complete[choice] = new CallEvent.Piece(piece.generation(), whole, piece.isLast());
            }
            if (piece.isLast()) {
                all.complete(List.of(complete));
            }
        }
    }
}
