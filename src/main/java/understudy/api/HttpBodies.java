package understudy.api;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
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
import understudy.runtime.Stopwatch;

/** Reads bodies that are JSON, and writes them. */
final class HttpBodies {
    private static final RejectionHandler UNKNOWN_ENCODING = RejectionHandler.newBuilder()
            .handle(
                    UnsupportedRequestEncodingRejection.class,
                    rejection -> Directives.complete(ServerEdge.failed(new ApiException(
                            415, "Unsupported Media Type", "Content-Encoding must be gzip or deflate.", null))))
            .build();

    /** What is still read of a body that is too large. */
    private static final long MAX_SWALLOWED_BYTES = 64L << 20;

    private final int maxBytes;
    private final Duration timeout;

    HttpBodies(ApiSettings settings) {
        maxBytes = settings.requestLimits().maxBodyBytes();
        timeout = settings.timeouts().body();
    }

    /** Returns a route that answers posts of JSON objects, compressed or not. */
    Route post(BiFunction<HttpRequest, JsonBody, CompletionStage<HttpResponse>> handler) {
        return Directives.post(() -> Directives.handleRejections(
                UNKNOWN_ENCODING,
                () -> Directives.decodeRequest(() -> Directives.extractMaterializer(materializer ->
                        Directives.extractRequest(request -> Directives.completeWithFuture(whole(request, materializer)
                                .thenCompose(whole -> handler.apply(whole, read(whole)))))))));
    }

    /**
     * Returns the request with all of its body. Most bodies come with their headers, and are there already; a request whose
     * body comes later arrives with its end, since how long its client takes is none of the API's delay.
     */
    private CompletionStage<HttpRequest> whole(HttpRequest request, Materializer materializer) {
        requireJson(request);
        long excess = request.entity().getContentLengthOption().orElse(0) - maxBytes;
        if (excess > 0 && excess <= MAX_SWALLOWED_BYTES) {
            return swallow(request.entity(), materializer);
        }
        // The one limit that is answered by a 413; that of toStrict, 8 MiB unless it is named, is not.
        var entity = request.entity().withSizeLimit(maxBytes);
        return entity instanceof HttpEntity.Strict
                ? CompletableFuture.completedFuture(request)
                : SameThread.after(entity.toStrict(timeout.toMillis(), Integer.MAX_VALUE, materializer))
                        .thenApply(body -> Arrival.mark(request.withEntity(body), Stopwatch.start()));
    }

    /**
     * Reads a body to its end before it is refused. A connection closed on a client that is still sending takes the answer
     * with it: the client sees a reset, and not that its body is too large.
     */
    private CompletionStage<HttpRequest> swallow(HttpEntity entity, Materializer materializer) {
        var end = entity.withoutSizeLimit()
                .getDataBytes()
                .completionTimeout(timeout)
                .runWith(Sink.ignore(), materializer);
        return SameThread.after(end).thenApply(done -> {
            throw ApiException.plain(413, "Request Entity Too Large");
        });
    }

    private static JsonBody read(HttpRequest whole) {
        var body = (HttpEntity.Strict) whole.entity();
        return new JsonBody(Json.readBody(body.getData().toArrayUnsafe()));
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

    static HttpResponse json(int status, JsonNode body) {
        return HttpResponse.create()
                .withStatus(status)
                .withEntity(HttpEntities.create(ContentTypes.APPLICATION_JSON, Json.bytes(body)));
    }
}
