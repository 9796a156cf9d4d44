package understudy.api.openai;

import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.PathMatchers.segment;

import java.util.concurrent.CompletionStage;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import understudy.api.call.ApiContext;
import understudy.api.call.CallRunner;
import understudy.api.http.JsonBody;
import understudy.api.http.RoutePart;

/** Route from token ids to token ids (vLLM {@code ServingTokens}): what {@link RenderRoutes} answers can be sent here. */
public final class TokensRoutes implements RoutePart {
    private final ApiContext api;
    private final CallParser parser;
    private final CallRunner runner;

    public TokensRoutes(ApiContext api, CallParser parser) {
        this.api = api;
        this.parser = parser;
        runner = new CallRunner(api);
    }

    @Override
    public Route route() {
        var bodies = api.bodies();
        return path(segment("inference").slash("v1").slash("generate"), () -> bodies.post(this::generate));
    }

    private CompletionStage<HttpResponse> generate(HttpRequest request, JsonBody body) {
        var call = parser.tokens(request, body);
        var requests = call.requests(api.sessions().next(request));
        return runner.run(request, call.info().params(), requests, new TokensFormat(call.info()));
    }
}
