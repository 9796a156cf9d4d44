package understudy.api.anthropic;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import understudy.api.http.ApiException;
import understudy.api.http.HttpBodies;
import understudy.api.http.HttpFailures;
import understudy.api.http.Json;
import understudy.jsonsample.RefusedSchemaException;

/** Error body of the Messages API (vLLM {@code AnthropicErrorResponse}); its types are vLLM's, not Anthropic's. */
final class MessageErrors {
    private MessageErrors() {}

    static ObjectNode body(ApiException failure) {
        var body = Json.object().put("type", "error");
        body.putObject("error").put("type", failure.type()).put("message", failure.message());
        return body;
    }

    /** Answers a call; a call that fails is answered in this body. */
    static CompletionStage<HttpResponse> inItsWords(Supplier<CompletionStage<HttpResponse>> call) {
        try {
            return call.get().exceptionally(MessageErrors::response);
        } catch (ApiException | RefusedSchemaException failure) {
            return CompletableFuture.completedFuture(response(failure));
        }
    }

    private static HttpResponse response(Throwable thrown) {
        var cause = thrown instanceof CompletionException && thrown.getCause() != null ? thrown.getCause() : thrown;
        var error = ApiException.of(cause);
        return error == null ? HttpFailures.response(cause) : HttpBodies.json(error.status(), body(error));
    }
}
