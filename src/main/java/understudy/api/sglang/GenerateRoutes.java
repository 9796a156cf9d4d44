package understudy.api.sglang;

import static org.apache.pekko.http.javadsl.server.Directives.path;

import java.util.OptionalInt;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import understudy.api.call.ApiContext;
import understudy.api.call.CallRunner;
import understudy.api.http.JsonBody;
import understudy.api.http.RequestIds;
import understudy.api.http.RoutePart;
import understudy.api.openai.CallParser;

/** Route of SGLang's own way to generate. */
public final class GenerateRoutes implements RoutePart {
    private final ApiContext api;
    private final CallParser parser;
    private final CallRunner runner;
    private final AdapterNames adapters;

    public GenerateRoutes(ApiContext api, CallParser parser, OptionalInt replica) {
        this.api = api;
        this.parser = parser;
        runner = new CallRunner(api);
        adapters = new AdapterNames(api.loras(), replica);
    }

    @Override
    public Route route() {
        return path("generate", () -> api.bodies().postOfAnyType(this::generate));
    }

    private CompletionStage<HttpResponse> generate(HttpRequest request, JsonBody body) {
        boolean streams = body.node().path("stream").asBoolean(false);
        return SglangErrors.inItsWords(streams, () -> {
            boolean hasPriorities = api.settings().model().hasPriorities();
            var asked = GenerateRequest.read(body, RequestIds.of(request), adapters, hasPriorities);
            var call = parser.completion(request, asked.completion());
            var params = call.info().params();
            var requests = call.requests(api.sessions().next(request));
            var format =
                    new GenerateFormat(asked.shape(), params.n(), call.info().logprobs());
            return runner.run(request, params, requests, format);
        });
    }
}
