package understudy.api.sglang;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.MediaTypes;
import org.apache.pekko.util.ByteString;
import understudy.api.call.CallFormat;
import understudy.api.http.ApiException;
import understudy.api.http.HttpBodies;
import understudy.api.http.HttpFailures;
import understudy.api.http.Json;
import understudy.jsonsample.RefusedSchemaException;

/**
 * Error bodies of SGLang ({@code http_server.py}, {@code entrypoints/openai/serving_base.py}). What the schema refuses, what
 * {@code /v1} refuses, and what an engine gives up has the flat body of {@code ErrorResponse}; a wrong value of SGLang's own
 * endpoints has that of {@code _create_error_response}.
 */
final class SglangErrors {
    /** Names of Anthropic for kinds of errors; all others are {@code api_error}. */
    private static final Map<Integer, String> ANTHROPIC_TYPES = Map.of(
            400, "invalid_request_error",
            401, "authentication_error",
            403, "permission_error",
            404, "not_found_error",
            413, "request_too_large",
            422, "invalid_request_error",
            503, "overloaded_error");

    private SglangErrors() {}

    /** Returns the answer to a request of a path. */
    static HttpResponse response(ApiException failure, String path) {
        // What was turned away because of the load is a 429 elsewhere.
        int status = failure.status() == 429 ? 503 : failure.status();
        if (path.startsWith("/v1/responses")) {
            return HttpBodies.json(status, ofResponses(failure, status));
        }
        if (path.startsWith("/v1/messages")) {
            var body = Json.object().put("type", "error");
            body.putObject("error")
                    .put("type", ANTHROPIC_TYPES.getOrDefault(status, "api_error"))
                    .put("message", failure.message());
            return HttpBodies.json(status, body);
        }
        if (failure.type().equals(failure.message())) {
            // Starlette's own refusals, such as of a path that is not there.
            return HttpBodies.json(status, Json.object().put("detail", failure.message()));
        }
        if (status != 400) {
            String type = status == 500 ? failure.type() : String.valueOf(status);
            return HttpBodies.json(status, flat(failure, type, status));
        }
        boolean isOpenAi = path.startsWith("/v1/") || path.startsWith("/invocations");
        return HttpBodies.json(status, isOpenAi ? flat(failure, failure.type(), status) : body(failure));
    }

    /** Returns the body of SGLang's own endpoints. */
    static ObjectNode body(ApiException failure) {
        if (failure.type().equals("Bad Request")) {
            return flat(failure, failure.type(), failure.status());
        }
        var body = Json.object();
        body.putObject("error").put("message", failure.message());
        return body;
    }

    /**
     * Returns the body on the paths of responses: what {@code serving_responses.py} refuses is flat, and has its parameter;
     * what the schema and {@code HTTPException} refuse is nested.
     */
    private static ObjectNode ofResponses(ApiException failure, int status) {
        var nested = failure.body();
        boolean isOfHandler = (status == 400 || status == 404)
                && !failure.type().equals("Bad Request")
                && !failure.type().equals(failure.message());
        if (isOfHandler) {
            var flat = flat(failure, failure.type(), status);
            flat.set("param", nested.at("/error/param"));
            return flat;
        }
        nested.withObject("/error").putNull("param").put("code", status);
        return nested;
    }

    private static ObjectNode flat(ApiException failure, String type, int status) {
        return Json.object()
                .put("object", "error")
                .put("message", failure.message())
                .put("type", type)
                .putNull("param")
                .put("code", status);
    }

    /** Returns the end of a stream of {@code /v1} that breaks off ({@code create_streaming_error_response}). */
    static String streamed(ApiException failure) {
        var body = Json.object();
        body.set("error", flat(failure, failure.type(), failure.status()));
        return CallFormat.event(body) + CallFormat.DONE;
    }

    /**
     * Answers a call; a call that fails is answered in these bodies.
     *
     * @param streams whether the call wants a stream, which SGLang has begun when it finds a wrong value
     */
    static CompletionStage<HttpResponse> inItsWords(boolean streams, Supplier<CompletionStage<HttpResponse>> call) {
        try {
            return call.get().exceptionally(failure -> response(failure, streams));
        } catch (ApiException | RefusedSchemaException failure) {
            return CompletableFuture.completedFuture(response(failure, streams));
        }
    }

    private static HttpResponse response(Throwable thrown, boolean streams) {
        var cause = thrown instanceof CompletionException && thrown.getCause() != null ? thrown.getCause() : thrown;
        var error = ApiException.of(cause);
        if (error == null) {
            return HttpFailures.response(cause);
        }
        boolean isOfValue = error.status() == 400 && !error.type().equals("Bad Request");
        return streams && isOfValue ? stream(error) : response(error, "/generate");
    }

    private static HttpResponse stream(ApiException error) {
        String text = CallFormat.event(body(error)) + CallFormat.DONE;
        return HttpResponse.create()
                .withEntity(HttpEntities.create(
                        ContentTypes.create(MediaTypes.TEXT_EVENT_STREAM),
                        ByteString.fromString(text, StandardCharsets.UTF_8)));
    }
}
