package understudy.api;

import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.japi.function.Function;
import understudy.api.call.ApiContext;
import understudy.api.call.ServerState;
import understudy.api.http.Arrival;
import understudy.api.http.BearerToken;
import understudy.api.http.Dialect;
import understudy.api.http.Ending;
import understudy.api.http.ForeignPages;
import understudy.api.http.HttpBodies;
import understudy.api.http.HttpFailures;
import understudy.api.http.Json;
import understudy.api.http.RequestIds;
import understudy.api.http.SameThread;
import understudy.runtime.Stopwatch;

/** Edge of the server, common to all routes: keys, draining, CORS, names, metrics, and the words of errors. */
public final class ServerEdge {
    /** The paths of vLLM that there are here. */
    static final Set<String> HANDLERS = Set.of(
            "/v1/chat/completions",
            "/v1/completions",
            "/v1/chat/completions/render",
            "/v1/completions/render",
            "/v1/responses",
            "/v1/messages",
            "/v1/messages/count_tokens",
            "/v1/chat/completions/batch",
            "/inference/v1/generate",
            "/v1/embeddings",
            "/pooling",
            "/classify",
            "/score",
            "/v1/score",
            "/rerank",
            "/v1/rerank",
            "/v2/rerank",
            "/v1/models",
            "/v1/load_lora_adapter",
            "/v1/unload_lora_adapter",
            "/tokenize",
            "/detokenize",
            "/health",
            "/health/ready",
            "/ping",
            "/version",
            "/load",
            "/server_info",
            "/metrics",
            "/reset_prefix_cache",
            "/sleep",
            "/wake_up",
            "/is_sleeping",
            "/pause",
            "/resume",
            "/is_paused",
            "/abort_requests",
            "/collective_rpc",
            "/get_world_size",
            "/reset_mm_cache",
            "/reset_encoder_cache",
            "/invocations",
            "/openapi.json",
            "/docs",
            "/redoc");

    /** The paths of SGLang that there are beside those; they need the key. */
    static final Set<String> OF_SGLANG = Set.of(
            "/generate",
            "/flush_cache",
            "/abort_request",
            "/load_lora_adapter",
            "/unload_lora_adapter",
            "/open_session",
            "/close_session",
            "/api/chat",
            "/api/generate",
            "/api/show",
            "/api/tags",
            "/pause_generation",
            "/continue_generation",
            "/model_info",
            "/get_model_info",
            "/get_load",
            "/get_server_info",
            "/v1/loads");

    /** Beside those of vLLM's API and of the administrator, the first segments of paths that need the cluster. */
    private static final Set<String> OF_CLUSTER =
            Set.of("reset_prefix_cache", "sleep", "wake_up", "is_sleeping", "pause", "resume", "is_paused");

    private final ApiContext api;
    private final RequestIds ids;
    private final ForeignPages foreignPages;
    private final Set<String> ofSglang;
    private final Set<String> absent;

    /**
     * Creates an edge.
     *
     * @param hasSglang whether SGLang's own paths are there
     */
    ServerEdge(ApiContext api, RequestIds ids, boolean hasSglang) {
        this.api = api;
        ofSglang = hasSglang ? OF_SGLANG : Set.of();
        absent = api.settings().absent().endpoints();
        this.ids = ids;
        foreignPages = new ForeignPages(api.settings().http());
    }

    /** Answers a request by way of {@code routes}. Never fails. */
    CompletionStage<HttpResponse> handle(
            HttpRequest unnamed, Function<HttpRequest, CompletionStage<HttpResponse>> routes, Dialect dialect) {
        var took = Stopwatch.start();
        var request = Arrival.mark(ids.name(withoutRootPath(unnamed)), took);
        String path = request.getUri().path();
        return answer(request, routes, dialect)
                .exceptionally(failure -> dialect.answer(HttpFailures.error(failure), path))
                .thenApply(response -> {
                    countWhenWritten(request, path, response, took);
                    return decorate(request, HttpFailures.inOurWords(response, dialect, path));
                });
    }

    /** As in FastAPI, a path is the same with and without the prefix of a proxy. */
    private HttpRequest withoutRootPath(HttpRequest request) {
        String root = api.settings().http().rootPath();
        String path = request.getUri().path();
        boolean isBelow = !root.isEmpty() && path.startsWith(root) && path.startsWith("/", root.length());
        return isBelow ? request.withUri(request.getUri().path(path.substring(root.length()))) : request;
    }

    /** As with FastAPI's instrumentation, a streamed response lasts until its end. */
    private void countWhenWritten(HttpRequest request, String path, HttpResponse response, Stopwatch took) {
        boolean isThere = (HANDLERS.contains(path) || ofSglang.contains(path)) && !absent.contains(path);
        String handler = isThere ? path : "none";
        String method = request.method().value();
        int status = response.status().intValue();
        response.getAttribute(Ending.KEY)
                .map(Ending::written)
                .orElse(CompletableFuture.completedStage(null))
                .thenRun(() -> api.metrics().onResponse(handler, method, status, took.seconds()));
    }

    private CompletionStage<HttpResponse> answer(
            HttpRequest request, Function<HttpRequest, CompletionStage<HttpResponse>> routes, Dialect dialect) {
        var foreign = foreignPages.refusal(request);
        if (foreign.isEmpty() && ForeignPages.isPreflight(request)) {
            return CompletableFuture.completedFuture(HttpResponse.create());
        }
        var refusal = foreign.or(() -> refusal(request, dialect)).or(() -> absence(request));
        try {
            return refusal.isPresent()
                    ? CompletableFuture.completedFuture(refusal.get())
                    : SameThread.after(routes.apply(request));
        } catch (Exception | StackOverflowError e) {
            return CompletableFuture.failedFuture(new CompletionException(e));
        }
    }

    /** An endpoint that the engine's version does not have is like any other path that is not there. */
    private Optional<HttpResponse> absence(HttpRequest request) {
        return absent.contains(request.getUri().path())
                ? Optional.of(HttpResponse.create().withStatus(404))
                : Optional.empty();
    }

    /** Returns why a request is not let in, or empty if it is. */
    private Optional<HttpResponse> refusal(HttpRequest request, Dialect dialect) {
        String first = ForeignPages.firstSegment(request);
        boolean isOfApi = first.equals("v1")
                || ofSglang.contains("/" + first)
                || ofSglang.contains(request.getUri().path());
        boolean isAdmin = first.equals("admin");
        boolean isLetIn =
                !isAdmin || BearerToken.fits(request, api.settings().http().adminToken());
        var refusal = isLetIn ? dialect.refusal(request) : OptionalInt.of(401);
        if (refusal.isPresent()) {
            return Optional.of(HttpBodies.json(refusal.getAsInt(), Json.object().put("error", "Unauthorized")));
        }
        boolean asksTheCluster = isOfApi || isAdmin || OF_CLUSTER.contains(first);
        boolean hasFailed = api.state().phase() == ServerState.Phase.FAILED;
        return isOfApi || (asksTheCluster && hasFailed)
                ? api.state()
                        .refusal()
                        .map(why -> dialect.answer(why, request.getUri().path()))
                : Optional.empty();
    }

    private HttpResponse decorate(HttpRequest request, HttpResponse response) {
        var decorated = response.addHeader(RawHeader.create(RequestIds.HEADER, headerSafe(RequestIds.of(request))));
        int status = response.status().intValue();
        if (status == 429 || status == 503) {
            long seconds =
                    Math.max(1, api.settings().http().timeouts().retryAfter().toSeconds());
            decorated = decorated.addHeader(RawHeader.create("Retry-After", String.valueOf(seconds)));
        }
        boolean isForPages = request.getHeader("Origin").isPresent() && !ForeignPages.areKeptFrom(request);
        return isForPages ? withCors(request, decorated) : decorated;
    }

    private static String headerSafe(String value) {
        return value.replaceAll("[^\\x20-\\x7E]", "?");
    }

    /**
     * As Starlette does it for vLLM: any origin, and whatever headers the browser asks for, but those that break calls.
     */
    private static HttpResponse withCors(HttpRequest request, HttpResponse response) {
        var answer = response.addHeader(RawHeader.create("Access-Control-Allow-Origin", "*"))
                .addHeader(RawHeader.create("Access-Control-Expose-Headers", "X-Request-Id, Retry-After"));
        if (!ForeignPages.isPreflight(request)) {
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
