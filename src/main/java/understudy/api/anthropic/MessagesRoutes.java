package understudy.api.anthropic;

import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.PathMatchers.segment;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import understudy.api.call.ApiContext;
import understudy.api.call.CallRunner;
import understudy.api.http.HttpBodies;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;
import understudy.api.http.RoutePart;
import understudy.api.openai.CallParser;

/**
 * Routes of the Messages API. Requests that break the schema get OpenAI's error body, as vLLM's validation handler does
 * for all paths; every other error has Anthropic's body.
 */
public final class MessagesRoutes implements RoutePart {
    private final ApiContext api;
    private final CallParser parser;
    private final CallRunner runner;

    public MessagesRoutes(ApiContext api, CallParser parser) {
        this.api = api;
        this.parser = parser;
        runner = new CallRunner(api);
    }

    @Override
    public Route route() {
        var bodies = api.bodies();
        return concat(
                path(segment("v1").slash("messages"), () -> bodies.post(this::create)),
                path(segment("v1").slash("messages").slash("count_tokens"), () -> bodies.post(this::countTokens)));
    }

    private CompletionStage<HttpResponse> create(HttpRequest request, JsonBody body) {
        var chat = MessagesRequest.create(body);
        return MessageErrors.inItsWords(() -> {
            var call = parser.chat(request, chat);
            var requests = call.requests(api.sessions().next(request));
            return runner.run(
                    request, call.info().params(), requests, new MessagesFormat(call.info(), call.isNamedCall()));
        });
    }

    private CompletionStage<HttpResponse> countTokens(HttpRequest request, JsonBody body) {
        var chat = MessagesRequest.countTokens(body);
        return MessageErrors.inItsWords(() -> {
            int numTokens = parser.chat(request, chat).numPromptTokens();
            var answer = Json.object().put("input_tokens", numTokens);
            answer.putObject("context_management").put("original_input_tokens", numTokens);
            return CompletableFuture.completedFuture(HttpBodies.json(200, answer));
        });
    }
}
