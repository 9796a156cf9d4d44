package understudy.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import understudy.json.Jackson;
import understudy.prompt.SessionTurn;
import understudy.runtime.Stopwatch;

/** Link to a server, with as many connections as there are requests at a time. */
public final class ServerLink {
    private static final ObjectMapper JSON = Jackson.mapper();
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int NUM_READERS = 4;
    private static final int NUM_ROUND_TRIPS = 25;
    private static final int OK = 200;

    /** Header that {@code understudy serve} knows sessions by, and that gateways can be told to. */
    private static final String SESSION_HEADER = "X-Session-Id";

    /** One for all, so that the first request of a benchmark is not the first one of the client. */
    private static final HttpClient CLIENT = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(PATIENCE)
            .executor(Executors.newFixedThreadPool(NUM_READERS, ServerLink::reader))
            .build();

    private final BenchTarget target;

    ServerLink(BenchTarget target) {
        this.target = target;
    }

    private static Thread reader(Runnable work) {
        var thread = new Thread(work, "bench-reader");
        thread.setDaemon(true);
        return thread;
    }

    /**
     * Model of a server.
     *
     * @param name its id
     * @param owner the engine, {@code vllm} or {@code sglang}, or whatever else a gateway says
     * @param maxModelLen longest sequence in tokens, 0 if the server does not say it
     */
    public record ServedModel(String name, String owner, int maxModelLen) {}

    /**
     * Returns the first model of a server.
     *
     * @param isKnown whether the caller knows a model, and only wants to know whether the server is there
     * @throws BenchUnreachableException if there is no such server
     */
    public static String firstModel(URI base, Map<String, String> headers, boolean isKnown)
            throws InterruptedException {
        var answer = models(base, headers);
        return isKnown ? "" : listed(answer).path(0).path("id").textValue();
    }

    /**
     * Returns a model of a server.
     *
     * @param wanted its name, or null for the first one
     * @throws BenchUnreachableException if there is no such server, or no such model
     */
    public static ServedModel model(URI base, Map<String, String> headers, @Nullable String wanted)
            throws InterruptedException {
        var answer = models(base, headers);
        for (var model : listed(answer)) {
            String name = model.path("id").asText();
            if (wanted == null || wanted.equals(name)) {
                return new ServedModel(
                        name,
                        model.path("owned_by").asText(),
                        model.path("max_model_len").asInt());
            }
        }
        throw new BenchUnreachableException(answer.uri() + ": no model " + wanted);
    }

    private static HttpResponse<String> models(URI base, Map<String, String> headers) throws InterruptedException {
        var uri = URI.create(base + "/v1/models");
        var request = HttpRequest.newBuilder(uri).timeout(PATIENCE).GET();
        headers.forEach(request::setHeader);
        try {
            return CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new BenchUnreachableException(uri + ": cannot be reached: " + Attempt.words(e));
        }
    }

    /** Returns the models of an answer, at least one. */
    private static JsonNode listed(HttpResponse<String> answer) {
        try {
            var models = JSON.readTree(answer.body()).path("data");
            if (answer.statusCode() != OK || !models.path(0).path("id").isTextual()) {
                throw new BenchUnreachableException(answer.uri() + ": no list of models, but HTTP "
                        + answer.statusCode() + "; name one with --model");
            }
            return models;
        } catch (JsonProcessingException e) {
            throw new BenchUnreachableException(answer.uri() + ": no list of models, but something else");
        }
    }

    /**
     * Returns how long a small answer takes from a server, in nanoseconds: the median of some, on a connection that is there.
     *
     * @throws BenchUnreachableException if the server does not answer
     */
    public static double roundTripNanos(URI base, Map<String, String> headers) throws InterruptedException {
        var uri = URI.create(base + "/health");
        var request = HttpRequest.newBuilder(uri).timeout(PATIENCE).GET();
        headers.forEach(request::setHeader);
        var nanos = new double[NUM_ROUND_TRIPS];
        try {
            for (int i = 0; i < nanos.length; i++) {
                var watch = Stopwatch.start();
                CLIENT.send(request.build(), HttpResponse.BodyHandlers.discarding());
                nanos[i] = watch.nanos();
            }
        } catch (IOException e) {
            throw new BenchUnreachableException(uri + ": cannot be reached: " + Attempt.words(e));
        }
        Arrays.sort(nanos);
        return nanos[nanos.length / 2];
    }

    /**
     * Empties the cache of a server of SGLang.
     *
     * @throws BenchUnreachableException if the server does not do it: figures would be those of a warm cache
     */
    public static void flushCache(BenchTarget target) throws InterruptedException {
        var uri = URI.create(target.base() + "/flush_cache");
        var request = HttpRequest.newBuilder(uri).timeout(PATIENCE).POST(HttpRequest.BodyPublishers.noBody());
        target.headers().forEach(request::setHeader);
        try {
            int status = CLIENT.send(request.build(), HttpResponse.BodyHandlers.discarding())
                    .statusCode();
            if (status != OK) {
                throw new BenchUnreachableException(
                        uri + ": the cache was not emptied, but HTTP " + status + "; leave out --flush-cache");
            }
        } catch (IOException e) {
            throw new BenchUnreachableException(uri + ": " + Attempt.words(e));
        }
    }

    /** Returns the mean tokens of a verification of drafts as a server of SGLang tells it; null if it does not. */
    public static @Nullable Double acceptLength(BenchTarget target) {
        var request = HttpRequest.newBuilder(URI.create(target.base() + "/get_server_info"))
                .timeout(PATIENCE);
        target.headers().forEach(request::setHeader);
        try {
            var response = CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
            var info = JSON.readTree(response.body());
            var first = info.has("decode") ? info.path("decode").path(0) : info;
            var length = first.path("internal_states").path(0).path("avg_spec_accept_length");
            return length.isNumber() ? length.doubleValue() : null;
        } catch (IOException e) {
            return null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    /** Returns the HTTP request for a body; a session's turns name it, for routers that keep sessions together. */
    HttpRequest request(ObjectNode body, SessionTurn turn) {
        try {
            var request = HttpRequest.newBuilder(target.uri())
                    .header("Content-Type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body)));
            if (turn.isInSession()) {
                request.setHeader(SESSION_HEADER, "session-" + turn.sessionId());
            }
            target.headers().forEach(request::setHeader);
            return request.build();
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends a request; what is returned never fails, but may hold an answer that has. */
    CompletableFuture<LiveAnswer> send(HttpRequest request, Attempt attempt) {
        return CLIENT.sendAsync(request, attempt::behind)
                .thenApply(HttpResponse::body)
                .exceptionally(attempt::onFailure);
    }
}
