package understudy.api.openai;

import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.PathMatchers.segment;

import java.util.concurrent.CompletionStage;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import understudy.api.call.ApiContext;
import understudy.api.call.CallFormat;
import understudy.api.call.CallRunner;
import understudy.api.http.ApiException;
import understudy.api.http.JsonBody;
import understudy.api.http.RoutePart;

/** Routes of chat completions and completions. */
public final class GenerationRoutes implements RoutePart {
    private final ApiContext api;
    private final CallParser parser;
    private final CallRunner runner;

    public GenerationRoutes(ApiContext api, CallParser parser) {
        this.api = api;
        this.parser = parser;
        runner = new CallRunner(api);
    }

    @Override
    public Route route() {
        var bodies = api.bodies();
        return concat(
                path(segment("v1").slash("chat").slash("completions"), () -> bodies.post(this::chat)),
                path(segment("v1").slash("completions"), () -> bodies.post(this::completions)),
                path("invocations", () -> bodies.post(this::invocations)));
    }

    private CompletionStage<HttpResponse> chat(HttpRequest request, JsonBody body) {
        var call = parser.chat(request, body);
        return run(request, call, new ChatFormat(call.info(), call.isNamedCall(), parser.echoed(body)));
    }

    private CompletionStage<HttpResponse> completions(HttpRequest request, JsonBody body) {
        var call = parser.completion(request, body);
        return run(request, call, new CompletionFormat(call.info(), CompletionFormat.Echo.of(body)));
    }

    /** SageMaker sends all to one path, so the body says what is asked for. */
    private CompletionStage<HttpResponse> invocations(HttpRequest request, JsonBody body) {
        if (body.get("messages") != null) {
            return chat(request, body);
        }
        if (body.get("prompt") != null) {
            return completions(request, body);
        }
        throw ApiException.badRequest(
                "Cannot find suitable handler for request. Expected one of: ['ChatCompletionRequest',"
                        + " 'CompletionRequest']",
                null);
    }

    private CompletionStage<HttpResponse> run(HttpRequest request, ParsedCall call, CallFormat format) {
        var requests = call.requests(api.sessions().next(request));
        return runner.run(request, call.info().params(), requests, format);
    }
}
