package understudy.api.sglang;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
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
 * Error bodies of SGLang's own endpoints ({@code http_server.py}): what the schema refuses has the flat body of {@code
 * ErrorResponse}, and all else has {@code _create_error_response}'s.
 */
final class SglangErrors {
    private SglangErrors() {}

    static ObjectNode body(ApiException failure) {
        if (failure.type().equals("Bad Request")) {
            return Json.object()
                    .put("object", "error")
                    .put("message", failure.message())
                    .put("type", failure.type())
                    .putNull("param")
                    .put("code", failure.status());
        }
        var body = Json.object();
        body.putObject("error").put("message", failure.message());
        return body;
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
        return streams && isOfValue ? stream(error) : HttpBodies.json(error.status(), body(error));
    }

    private static HttpResponse stream(ApiException error) {
        String text = CallFormat.event(body(error)) + CallFormat.DONE;
        return HttpResponse.create()
                .withEntity(HttpEntities.create(
                        ContentTypes.create(MediaTypes.TEXT_EVENT_STREAM),
                        ByteString.fromString(text, StandardCharsets.UTF_8)));
    }
}
