package understudy.api.http;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.pekko.Done;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.DispatcherSelector;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpEntity;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.MediaTypes;
import org.apache.pekko.http.javadsl.server.Directives;
import org.apache.pekko.http.javadsl.server.RejectionHandler;
import org.apache.pekko.http.javadsl.server.Route;
import org.apache.pekko.http.javadsl.server.UnsupportedRequestEncodingRejection;
import org.apache.pekko.stream.Materializer;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.util.ByteString;
import org.jspecify.annotations.Nullable;
import understudy.runtime.Stopwatch;

/** Reads bodies that are JSON, and writes them. */
public final class HttpBodies {
    private static final RejectionHandler UNKNOWN_ENCODING = RejectionHandler.newBuilder()
            .handle(
                    UnsupportedRequestEncodingRejection.class,
                    rejection -> Directives.complete(HttpFailures.response(new ApiException(
                            415, "Unsupported Media Type", "Content-Encoding must be gzip or deflate.", null))))
            .build();

    /**
     * Memory of a value in a tree, with its place in an object or a list; tokens of JSON that end something count, too.
     */
    private static final int MEMORY_PER_VALUE = 64;

    /** Fields with schemas and patterns, which a small body can make a lot of work of. */
    private static final List<String> COSTLY_FIELDS =
            List.of("structured_outputs", "response_format", "output_config", "tools", "text", "sampling_params");

    /** Up to this size a body is read at once: to hand it to another thread would take longer than that. */
    private static final int MAX_BYTES_AT_ONCE = 32 << 10;

    /**
     * Rate at which refused bodies are read. As fast as they come they would keep the threads that all connections
     * share from ever looking at any other.
     */
    private static final long DROPPED_BYTES_PER_SECOND = 100L << 20;

    /** Part of them that is read without waiting: all that a few clients send. */
    private static final long DROPPED_BYTES_AT_ONCE = 2L << 20;

    private final long maxBytes;
    private final Duration timeout;
    private final BodyMemory memory;
    private final Executor elsewhere;
    private final ByteRate dropping = new ByteRate(DROPPED_BYTES_PER_SECOND, DROPPED_BYTES_AT_ONCE);
    private final Stopwatch running = Stopwatch.start();

    public HttpBodies(ActorSystem<?> system, HttpSettings settings) {
        var limits = settings.limits();
        memory = new BodyMemory(limits.maxBodyMemoryBytes());
        // A body that can never be let in need not be sent again.
        maxBytes = Math.min(limits.maxBodyBytes(), memory.maxBytes() / IncomingBody.MEMORY_PER_BYTE);
        timeout = settings.timeouts().body();
        elsewhere = system.dispatchers().lookup(DispatcherSelector.fromConfig("pekko.bodies-dispatcher"));
    }

    BodyMemory memory() {
        return memory;
    }

    /** Returns a route that answers posts of JSON objects, compressed or not. */
    public Route post(BiFunction<HttpRequest, JsonBody, CompletionStage<HttpResponse>> handler) {
        return Directives.post(() -> read(HttpBodies::requireJson, handler));
    }

    /** The same, whatever type the body says that it has. */
    public Route postOfAnyType(BiFunction<HttpRequest, JsonBody, CompletionStage<HttpResponse>> handler) {
        return Directives.post(() -> read(request -> {}, handler));
    }

    /** The same for puts. */
    public Route putOfAnyType(BiFunction<HttpRequest, JsonBody, CompletionStage<HttpResponse>> handler) {
        return Directives.put(() -> read(request -> {}, handler));
    }

    private Route read(
            Consumer<HttpRequest> requirement,
            BiFunction<HttpRequest, JsonBody, CompletionStage<HttpResponse>> handler) {
        return Directives.handleRejections(
                UNKNOWN_ENCODING,
                () -> Directives.extractRequest(sent -> {
                    boolean isPacked = sent.getHeader("Content-Encoding").isPresent();
                    requirement.accept(sent);
                    return Directives.decodeRequest(() -> Directives.extractMaterializer(
                            materializer -> Directives.extractRequest(request -> Directives.completeWithFuture(
                                    new Exchange(request, handler).answer(isPacked, materializer)))));
                }));
    }

    /** One request, from its body to its answer. */
    private final class Exchange {
        private final HttpRequest request;
        private final BiFunction<HttpRequest, JsonBody, CompletionStage<HttpResponse>> handler;
        private final BodyMemory.Share share = memory.share();

        Exchange(HttpRequest request, BiFunction<HttpRequest, JsonBody, CompletionStage<HttpResponse>> handler) {
            this.request = request;
            this.handler = handler;
        }

        CompletionStage<HttpResponse> answer(boolean isPacked, Materializer materializer) {
            var entity = request.entity();
            var incoming = new IncomingBody(share, maxBytes, entity.getContentLengthOption(), isPacked);
            var response = entity instanceof HttpEntity.Strict strict
                    ? CompletableFuture.completedStage(incoming.add(strict.getData()))
                            .thenCompose(in -> handle(in, request))
                    : receive(entity, incoming, materializer);
            return response.whenComplete((made, failure) -> releaseAfter(made));
        }

        /**
         * Reads a body that comes later than its head. Its request arrives with its end, since how long its client
         * takes is none of the API's delay.
         */
        private CompletionStage<HttpResponse> receive(
                HttpEntity entity, IncomingBody incoming, Materializer materializer) {
            var received = entity.withoutSizeLimit()
                    .getDataBytes()
                    .completionTimeout(timeout)
                    .mapAsync(1, part -> take(part, incoming))
                    .runWith(Sink.ignore(), materializer);
            return SameThread.after(received)
                    .exceptionally(incoming::orElseFail)
                    .thenCompose(done -> handle(incoming, Arrival.mark(request, Stopwatch.start())));
        }

        private CompletionStage<Done> take(ByteString part, IncomingBody incoming) {
            incoming.add(part);
            long waitNanos =
                    incoming.isRefused() ? dropping.passNanos(part.size(), (long) (running.seconds() * 1e9)) : 0;
            return waitNanos == 0
                    ? CompletableFuture.completedStage(Done.getInstance())
                    : new CompletableFuture<Done>()
                            .completeOnTimeout(Done.getInstance(), waitNanos, TimeUnit.NANOSECONDS);
        }

        private CompletionStage<HttpResponse> handle(IncomingBody incoming, HttpRequest arrived) {
            var body = incoming.whole();
            return body.size() <= MAX_BYTES_AT_ONCE
                    ? handle(body, arrived)
                    : CompletableFuture.supplyAsync(() -> handleLarge(body, arrived), elsewhere)
                            .thenCompose(Function.identity());
        }

        private CompletionStage<HttpResponse> handle(ByteString body, HttpRequest arrived) {
            var parsed = new JsonBody(Json.readBody(body.asInputStream()));
            return COSTLY_FIELDS.stream().anyMatch(parsed.node()::has)
                    ? CompletableFuture.supplyAsync(() -> apply(parsed, arrived, body.size()), elsewhere)
                            .thenCompose(Function.identity())
                    : apply(parsed, arrived, body.size());
        }

        private CompletionStage<HttpResponse> apply(JsonBody parsed, HttpRequest arrived, int numBytes) {
            try {
                var response = handler.apply(arrived, parsed);
                // Of the body only its tokens stay in memory, and the parts that the answer repeats.
                share.shrinkTo(numBytes);
                return response;
            } catch (StackOverflowError e) {
                throw ApiException.badRequest("The request is nested too deeply.", null);
            }
        }

        private CompletionStage<HttpResponse> handleLarge(ByteString body, HttpRequest arrived) {
            boolean isGone = request.getAttribute(ClientConnection.KEY)
                    .filter(ClientConnection::isClosed)
                    .isPresent();
            if (isGone) {
                throw ApiException.badRequest("The client has gone away.", null);
            }
            requireRoomForValues(body);
            return handle(body, arrived);
        }

        private void requireRoomForValues(ByteString body) {
            long bytes = (long) body.size() * IncomingBody.MEMORY_PER_BYTE
                    + Json.countValues(body.asInputStream()) * MEMORY_PER_VALUE;
            if (bytes > memory.maxBytes()) {
                throw ApiException.plain(413, "Request Entity Too Large");
            }
            if (!share.growTo(bytes)) {
                throw IncomingBody.noRoom();
            }
        }

        /** A streamed response lasts until its end. */
        private void releaseAfter(@Nullable HttpResponse made) {
            var written = made == null
                    ? CompletableFuture.<Void>completedStage(null)
                    : made.getAttribute(Ending.KEY).map(Ending::written).orElse(CompletableFuture.completedStage(null));
            written.whenComplete((done, failure) -> share.close());
        }
    }

    private static void requireJson(HttpRequest request) {
        var mediaType = request.entity().getContentType().mediaType();
        boolean isJson = mediaType.equals(MediaTypes.APPLICATION_JSON)
                || mediaType.subType().endsWith("+json");
        if (!isJson) {
            throw new ApiException(
                    400, "Bad Request", "Unsupported Media Type: Only 'application/json' is allowed", null);
        }
    }

    public static HttpResponse json(int status, JsonNode body) {
        return HttpResponse.create()
                .withStatus(status)
                .withEntity(HttpEntities.create(ContentTypes.APPLICATION_JSON, Json.bytes(body)));
    }
}
