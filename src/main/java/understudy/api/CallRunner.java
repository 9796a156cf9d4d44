package understudy.api;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.NotUsed;
import org.apache.pekko.http.javadsl.model.ContentType;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.MediaTypes;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.stream.BoundedSourceQueue;
import org.apache.pekko.stream.QueueOfferResult;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import understudy.workload.RequestFault;

/** Runs calls: sends their requests to the cluster, and makes responses of what comes back, streamed or in one piece. */
final class CallRunner {
    private static final Logger LOG = LoggerFactory.getLogger(CallRunner.class);
    private static final ContentType EVENT_STREAM = ContentTypes.create(MediaTypes.TEXT_EVENT_STREAM);

    private final ApiContext api;

    CallRunner(ApiContext api) {
        this.api = api;
    }

    /** Starts a call and returns its response. */
    CompletionStage<HttpResponse> run(
            HttpRequest request, GenerationParams params, List<Generation.Spec> specs, CallFormat format) {
        requireRoom();
        var fault = faultOf(request);
        var response =
                params.streams() ? stream(request, specs, fault, format) : inOnePiece(request, specs, fault, format);
        boolean hasLogprobs = params.numLogprobs() >= 0 || params.numPromptLogprobs() >= 0;
        return hasLogprobs ? response.thenApply(CallRunner::markedAsSynthetic) : response;
    }

    private static RequestFault faultOf(HttpRequest request) {
        try {
            return FaultHeaders.read(name -> request.getHeader(name).map(HttpHeader::value));
        } catch (IllegalArgumentException e) {
            throw ApiException.badRequest(String.valueOf(e.getMessage()), null);
        }
    }

    /** Log probabilities are made up, and say so. */
    private static HttpResponse markedAsSynthetic(HttpResponse response) {
        return response.addHeader(RawHeader.create("X-Understudy-Synthetic", "logprobs"));
    }

    private void requireRoom() {
        int limit = api.settings().requestLimits().maxInFlight();
        if (limit > 0 && api.state().numInFlight() >= limit) {
            throw new ApiException(429, "RateLimitError", "Too many requests in flight; at most " + limit + ".", null);
        }
    }

    private void register(HttpRequest request, Call call) {
        api.state().add(call);
        request.getAttribute(ClientConnection.KEY).ifPresent(connection -> connection.carry(call));
        var timeout = api.settings().timeouts().request();
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
            HttpRequest request, List<Generation.Spec> specs, RequestFault fault, CallFormat format) {
        var answer = new CompletableFuture<List<CallFormat.Whole>>();
        var call = new Call(api.cluster(), new Collector(specs.size(), answer));
        call.done().whenComplete((done, failure) -> {
            call.close();
            // Nobody reads this, unless there is an answer already; but the library waits for it.
            answer.completeExceptionally(ApiException.badRequest("The client has gone away.", null));
        });
        register(request, call);
        call.start(specs, fault);
        return answer.thenApply(choices -> HttpResponse.create()
                .withEntity(HttpEntities.create(ContentTypes.APPLICATION_JSON, Json.bytes(format.whole(choices)))));
    }

    /** A stream begins when a replica has the request: until then an error is a status of its own. */
    private CompletionStage<HttpResponse> stream(
            HttpRequest request, List<Generation.Spec> specs, RequestFault fault, CallFormat format) {
        int buffer = api.settings().requestLimits().streamBuffer();
        var queue = Source.<Piece>queue(buffer).preMaterialize(api.system());
        var call = new StreamedCall(queue.first(), specs.size());
        Source<ByteString, NotUsed> events = queue.second()
                .map(piece -> ByteString.fromString(piece.text(format)))
                .recover(SlowReaderException.class, () -> ByteString.fromString(format.failure(tooSlow())))
                .watchTermination((before, done) -> {
                    done.whenComplete((ok, failure) -> call.call.close());
                    return before;
                });
        call.begin(request, specs, fault);
        return call.admitted.thenApply(ok -> responseOf(events));
    }

    private static HttpResponse responseOf(Source<ByteString, NotUsed> events) {
        return HttpResponse.create()
                .withEntity(HttpEntities.createChunked(EVENT_STREAM, events))
                .addHeader(RawHeader.create("Cache-Control", "no-cache"))
                .addHeader(RawHeader.create("X-Accel-Buffering", "no"));
    }

    private static ApiException tooSlow() {
        return new ApiException(500, "InternalServerError", "The stream was cut: its reader was too slow.", null);
    }

    /** What waits for a reader: a piece of an answer, or the failure that ends the stream. */
    private record Piece(
            @Nullable Generation generation,
            @Nullable Delta delta,
            boolean isLast,
            @Nullable ApiException failure) {

        String text(CallFormat format) {
            if (failure != null) {
                return format.failure(failure);
            }
            if (generation == null || delta == null) {
                return "";
            }
            String events = format.events(generation, delta);
            return isLast ? events + format.end() : events;
        }
    }

    /** Passes pieces on to a reader, who may be slow: the emulation never waits. */
    private final class StreamedCall implements Call.Listener {
        private final BoundedSourceQueue<Piece> queue;
        private final Call call = new Call(api.cluster(), this);
        private final CompletableFuture<Void> admitted = new CompletableFuture<>();
        private int numOpen;

        StreamedCall(BoundedSourceQueue<Piece> queue, int numChoices) {
            this.queue = queue;
            numOpen = numChoices;
        }

        void begin(HttpRequest request, List<Generation.Spec> specs, RequestFault fault) {
            // A call that was given up ends its stream, or the library would wait for more.
            call.done().whenComplete((done, failure) -> {
                end();
                refuse(ApiException.badRequest("The client has gone away.", null));
            });
            register(request, call);
            call.start(specs, fault);
        }

        @Override
        public void onAdmitted() {
            admitted.complete(null);
        }

        /** Answers with an error in place of a stream, if there is none yet. */
        private void refuse(ApiException failure) {
            if (admitted.completeExceptionally(failure)) {
                call.close();
            }
        }

        @Override
        public void onDelta(Generation generation, Delta delta) {
            numOpen -= delta.ending() == null ? 0 : 1;
            boolean isLast = numOpen == 0;
            var offered = queue.offer(new Piece(generation, delta, isLast, null));
            if (offered == QueueOfferResult.dropped()) {
                api.metrics().onStreamCut();
                breakOff(new SlowReaderException());
                call.cancel();
            } else if (isLast) {
                end();
            }
        }

        @Override
        public void onCut(ApiException failure) {
            refuse(failure);
            breakOff(new CutException());
        }

        @Override
        public void onFailed(ApiException failure) {
            refuse(failure);
            queue.offer(new Piece(null, null, true, failure));
            end();
        }

        private void end() {
            try {
                queue.complete();
            } catch (IllegalStateException e) {
                LOG.debug("a stream has ended already, because its reader has gone away", e);
            }
        }

        private void breakOff(Exception why) {
            try {
                queue.fail(why);
            } catch (IllegalStateException e) {
                LOG.debug("a stream has ended already, because its reader has gone away", e);
            }
        }
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

    /** A stream ends without its last chunk, as if the server had died. */
    private static final class CutException extends Exception {
        CutException() {
            super("the answer was cut", null, false, false);
        }
    }

    /** A stream was cut because its buffer was full. */
    private static final class SlowReaderException extends RuntimeException {
        SlowReaderException() {
            super("the reader of a stream was too slow", null, false, false);
        }
    }
}
