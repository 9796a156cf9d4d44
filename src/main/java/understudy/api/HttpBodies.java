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
import org.apache.pekko.util.ByteString;

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
                        Directives.extractRequest(request -> Directives.completeWithFuture(
                                read(request, materializer).thenCompose(body -> handler.apply(request, body))))))));
    }

    private CompletionStage<JsonBody> read(HttpRequest request, Materializer materializer) {
        requireJson(request);
        long excess = request.entity().getContentLengthOption().orElse(0) - maxBytes;
        if (excess > 0 && excess <= MAX_SWALLOWED_BYTES) {
            return swallow(request.entity(), materializer);
        }
        return data(request.entity().withSizeLimit(maxBytes), materializer)
                .thenApply(data -> new JsonBody(Json.readBody(data.toArrayUnsafe())));
    }

    /**
     * Reads a body to its end before it is refused. A connection closed on a client that is still sending takes the answer
     * with it: the client sees a reset, and not that its body is too large.
     */
    private CompletionStage<JsonBody> swallow(HttpEntity entity, Materializer materializer) {
        var end = entity.withoutSizeLimit()
                .getDataBytes()
                .completionTimeout(timeout)
                .runWith(Sink.ignore(), materializer);
        return SameThread.after(end).thenApply(done -> {
            throw ApiException.plain(413, "Request Entity Too Large");
        });
    }

    /** Most bodies come with their headers, and are there already. */
    private CompletionStage<ByteString> data(HttpEntity entity, Materializer materializer) {
        return entity instanceof HttpEntity.Strict whole
                ? CompletableFuture.completedFuture(whole.getData())
                : SameThread.after(entity.toStrict(timeout.toMillis(), materializer))
                        .thenApply(HttpEntity.Strict::getData);
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
