package understudy.api.call;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.NotUsed;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.MediaTypes;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.http.scaladsl.model.ContentType;
import org.apache.pekko.http.scaladsl.model.HttpEntity;
import org.apache.pekko.stream.javadsl.Source;
import org.jspecify.annotations.Nullable;
import understudy.api.http.ApiException;
import understudy.api.http.Arrival;
import understudy.api.http.ClientConnection;
import understudy.api.http.Ending;
import understudy.api.http.Json;

/**
 * Runs calls: sends their requests to the cluster, and makes responses of what comes back, streamed or in one piece.
 */
public final class CallRunner {
    private static final ContentType EVENT_STREAM = (ContentType) ContentTypes.create(MediaTypes.TEXT_EVENT_STREAM);

    private final ApiContext api;

    public CallRunner(ApiContext api) {
        this.api = api;
    }

    /** Starts a call and returns its response. */
    public CompletionStage<HttpResponse> run(
            HttpRequest request, GenerationParams params, List<Generation.Spec> specs, CallFormat format) {
        requireRoom();
        var arrival = Arrival.of(request, api.cluster().time().nowNanos());
        requireRank(arrival, specs);
        var response = params.streams()
                ? stream(request, specs, arrival, format)
                : inOnePiece(request, specs, arrival, format);
        boolean hasLogprobs = params.numLogprobs() >= 0 || params.numPromptLogprobs() >= 0;
        return hasLogprobs ? response.thenApply(CallRunner::markedAsSynthetic) : response;
    }

    /** Log probabilities are made up, and say so. */
    private static HttpResponse markedAsSynthetic(HttpResponse response) {
        return response.addHeader(RawHeader.create("X-Understudy-Synthetic", "logprobs"));
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

    private CompletionStage<HttpResponse> inOnePiece(
            HttpRequest request, List<Generation.Spec> specs, Arrival arrival, CallFormat format) {
        var answer = new CompletableFuture<List<CallFormat.Whole>>();
        var call = new Call(api.cluster(), new Collector(specs.size(), answer));
        call.done().whenComplete((done, failure) -> {
            call.close();
            // This is not read, unless there is an answer already; but the library waits for it.
            answer.completeExceptionally(ApiException.badRequest("The client has gone away.", null));
        });
        register(request, call);
        call.start(specs, arrival);
        return answer.thenApply(choices -> HttpResponse.create()
                .withEntity(HttpEntities.create(ContentTypes.APPLICATION_JSON, Json.bytes(format.whole(choices)))));
    }

    private CompletionStage<HttpResponse> stream(
            HttpRequest request, List<Generation.Spec> specs, Arrival arrival, CallFormat format) {
        var connection = request.getAttribute(ClientConnection.KEY).orElseGet(() -> new ClientConnection(() -> {}));
        int ordinal = request.getAttribute(ClientConnection.ORDINAL).orElse(0);
        var call = new StreamedCall(api, specs.size(), format, connection, ordinal);
        register(request, call.call());
        return call.begin(specs, arrival)
                .thenApply(events -> responseOf(events)
                        .addAttribute(Ending.KEY, new Ending(call.call().closed())));
    }

    private static HttpResponse responseOf(Source<HttpEntity.ChunkStreamPart, NotUsed> events) {
        return HttpResponse.create()
                .withEntity(new HttpEntity.Chunked(
                        EVENT_STREAM,
                        events.<Object>mapMaterializedValue(value -> value).asScala()))
                .addHeader(RawHeader.create("Cache-Control", "no-cache"))
                .addHeader(RawHeader.create("X-Accel-Buffering", "no"));
    }

    /** Collects answers until all are complete. */
    private static final class Collector implements Call.Listener {
        private final CompletableFuture<List<CallFormat.Whole>> all;
        private final CallFormat.@Nullable Whole[] choices;
        private final StringBuilder[] texts;
        private int numOpen;

        Collector(int numChoices, CompletableFuture<List<CallFormat.Whole>> all) {
            this.all = all;
            choices = new CallFormat.Whole[numChoices];
            texts = new StringBuilder[numChoices];
            numOpen = numChoices;
        }

        @Override
        public void onDelta(Generation generation, Delta delta) {
            int choice = delta.choice();
            if (texts[choice] == null) {
                texts[choice] = new StringBuilder();
            }
            texts[choice].append(delta.text());
            if (delta.ending() != null) {
                var whole = new Delta(choice, 0, delta.toToken(), texts[choice].toString(), delta.ending());
                choices[choice] = new CallFormat.Whole(generation, whole);
                numOpen--;
            }
            if (numOpen == 0) {
                all.complete(complete());
            }
        }

        private List<CallFormat.Whole> complete() {
            var complete = new ArrayList<CallFormat.Whole>();
            for (var choice : choices) {
                if (choice != null) {
                    complete.add(choice);
                }
            }
            return complete;
        }

        @Override
        public void onFailed(ApiException failure) {
            all.completeExceptionally(failure);
        }
    }
}
