package understudy.api;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.zip.ZipException;
import org.apache.pekko.http.javadsl.model.AttributeKey;
import org.apache.pekko.http.javadsl.model.HttpMethods;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.http.scaladsl.model.EntityStreamException;
import org.apache.pekko.http.scaladsl.model.EntityStreamSizeException;
import org.apache.pekko.http.scaladsl.model.IllegalRequestException;
import org.apache.pekko.japi.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import understudy.runtime.Stopwatch;

/** What holds for every request, whatever its route: keys, draining, CORS, names, metrics, and the words of errors. */
final class ServerEdge {
    private static final Logger LOG = LoggerFactory.getLogger(ServerEdge.class);
    /** The paths of vLLM that there are here. */
    static final Set<String> HANDLERS = Set.of(
            "/v1/chat/completions",
            "/v1/completions",
            "/v1/responses",
            "/v1/models",
            "/tokenize",
            "/detokenize",
            "/health",
            "/health/ready",
            "/ping",
            "/version",
            "/load",
            "/metrics",
            "/reset_prefix_cache");

    /** Under which a streamed response carries its end. */
    static final AttributeKey<Ending> ENDING = AttributeKey.create("understudy-ending", Ending.class);

    /** Completes when a response has been written, or its client has gone away. */
    record Ending(CompletionStage<Void> written) {}

    private static final Map<Integer, String> PHRASES = Map.of(
            404, "Not Found",
            405, "Method Not Allowed",
            408, "Request Timeout",
            413, "Request Entity Too Large",
            415, "Unsupported Media Type");

    private final ApiContext api;
    private final RequestIds ids;
    private final ForeignPages foreignPages;

    ServerEdge(ApiContext api, RequestIds ids) {
        this.api = api;
        this.ids = ids;
        foreignPages = new ForeignPages(api.settings());
    }

    /** Answers a request by way of {@code routes}. Never fails. */
    CompletionStage<HttpResponse> handle(
            HttpRequest unnamed, Function<HttpRequest, CompletionStage<HttpResponse>> routes) {
        var took = Stopwatch.start();
        var request = Arrival.mark(ids.name(unnamed), took);
        String path = request.getUri().path();
        return answer(request, routes).exceptionally(ServerEdge::failed).thenApply(response -> {
            countWhenWritten(request, path, response, took);
            return decorate(request, inOurWords(response));
        });
    }

    /** As with FastAPI's instrumentation, a streamed response lasts until its end. */
    private void countWhenWritten(HttpRequest request, String path, HttpResponse response, Stopwatch took) {
        String handler = HANDLERS.contains(path) ? path : "none";
        String method = request.method().value();
        int status = response.status().intValue();
        response.getAttribute(ENDING)
                .map(Ending::written)
                .orElse(CompletableFuture.completedStage(null))
                .thenRun(() -> api.metrics().onResponse(handler, method, status, took.seconds()));
    }

    private CompletionStage<HttpResponse> answer(
            HttpRequest request, Function<HttpRequest, CompletionStage<HttpResponse>> routes) {
        var foreign = foreignPages.refusal(request);
        if (foreign.isEmpty() && isPreflight(request)) {
            return CompletableFuture.completedFuture(HttpResponse.create());
        }
        var refusal = foreign.or(() -> refusal(request));
        try {
            return refusal.isPresent()
                    ? CompletableFuture.completedFuture(refusal.get())
                    : SameThread.after(routes.apply(request));
        } catch (Exception | StackOverflowError e) {
            return CompletableFuture.failedFuture(new CompletionException(e));
        }
    }

    static boolean isPreflight(HttpRequest request) {
        return request.method().equals(HttpMethods.OPTIONS)
                && request.getHeader("Access-Control-Request-Method").isPresent();
    }

    /** Returns why a request is not let in, or empty if it is. */
    private Optional<HttpResponse> refusal(HttpRequest request) {
        boolean isV1 = ForeignPages.firstSegment(request).equals("v1");
        boolean isAdmin = ForeignPages.firstSegment(request).equals("admin");
        boolean isLetIn = (!isV1 || hasKey(request, api.settings().apiKey()))
                && (!isAdmin || hasKey(request, api.settings().adminToken()));
        if (!isLetIn) {
            return Optional.of(HttpBodies.json(401, Json.object().put("error", "Unauthorized")));
        }
        boolean asksTheCluster =
                isV1 || isAdmin || ForeignPages.firstSegment(request).equals("reset_prefix_cache");
        boolean hasFailed = api.state().phase() == ServerState.Phase.FAILED;
        return isV1 || (asksTheCluster && hasFailed)
                ? api.state().refusal().map(why -> HttpBodies.json(why.status(), why.body()))
                : Optional.empty();
    }

    private static boolean hasKey(HttpRequest request, String key) {
        return key.isEmpty()
                || request.getHeader("Authorization")
                        .filter(header -> isEqual(header.value(), "Bearer " + key))
                        .isPresent();
    }

    /** Takes as long for a near miss as for any other, so that a key cannot be guessed letter by letter. */
    private static boolean isEqual(String given, String wanted) {
        return MessageDigest.isEqual(given.getBytes(StandardCharsets.UTF_8), wanted.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns the answer to a request that has ended with an exception. */
    static HttpResponse failed(Throwable thrown) {
        Throwable cause = (thrown instanceof CompletionException || thrown instanceof ExecutionException)
                        && thrown.getCause() != null
                ? thrown.getCause()
                : thrown;
        if (cause instanceof ApiException failure) {
            return HttpBodies.json(failure.status(), failure.body());
        }
        if (cause instanceof EntityStreamSizeException) {
            return plain(413);
        }
        if (cause instanceof TimeoutException) {
            return plain(408);
        }
        if (cause instanceof IllegalRequestException) {
            // The library says what is wrong, such as that a body is not gzip.
            return HttpBodies.json(
                    400, new ApiException(400, "Bad Request", String.valueOf(cause.getMessage()), null).body());
        }
        boolean isTheClients = cause instanceof EntityStreamException || cause instanceof ZipException;
        if (isTheClients) {
            return plain(400);
        }
        LOG.error("a request failed", cause);
        return plain(500);
    }

    /** Errors that the HTTP library has answered in its own words get ours. */
    private static HttpResponse inOurWords(HttpResponse response) {
        int status = response.status().intValue();
        boolean isOurs = status < 400
                || response.entity().getContentType().mediaType().subType().equals("json");
        if (isOurs) {
            return response;
        }
        return plain(status).addHeaders(response.getHeaders());
    }

    private static HttpResponse plain(int status) {
        String phrase = PHRASES.getOrDefault(status, status < 500 ? "Bad Request" : "Internal Server Error");
        return HttpBodies.json(status, ApiException.plain(status, phrase).body());
    }

    private HttpResponse decorate(HttpRequest request, HttpResponse response) {
        var decorated = response.addHeader(RawHeader.create(RequestIds.HEADER, headerSafe(RequestIds.of(request))));
        int status = response.status().intValue();
        if (status == 429 || status == 503) {
            long seconds = Math.max(1, api.settings().timeouts().retryAfter().toSeconds());
            decorated = decorated.addHeader(RawHeader.create("Retry-After", String.valueOf(seconds)));
        }
        boolean isForPages = request.getHeader("Origin").isPresent() && !ForeignPages.areKeptFrom(request);
        return isForPages ? withCors(request, decorated) : decorated;
    }

    private static String headerSafe(String value) {
        return value.replaceAll("[^\\x20-\\x7E]", "?");
    }

    /** As Starlette does it for vLLM: any origin, and whatever headers the browser asks for, but those that break calls. */
    private static HttpResponse withCors(HttpRequest request, HttpResponse response) {
        var answer = response.addHeader(RawHeader.create("Access-Control-Allow-Origin", "*"))
                .addHeader(RawHeader.create("Access-Control-Expose-Headers", "X-Request-Id, Retry-After"));
        if (!isPreflight(request)) {
            return answer;
        }
        var headers = request.getHeader("Access-Control-Request-Headers")
                .map(ForeignPages::allowedHeaders)
                .filter(names -> !names.isEmpty());
        var preflight = answer.addHeader(RawHeader.create(
                        "Access-Control-Allow-Methods", "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"))
                .addHeader(RawHeader.create("Access-Control-Max-Age", "600"));
        return headers.map(names ->
                        preflight.addHeader(RawHeader.create("Access-Control-Allow-Headers", headerSafe(names))))
                .orElse(preflight);
    }
}
