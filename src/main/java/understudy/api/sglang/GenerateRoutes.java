package understudy.api.sglang;

import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.path;

import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import org.jspecify.annotations.Nullable;
import understudy.api.call.ApiContext;
import understudy.api.call.CallRunner;
import understudy.api.http.ApiException;
import understudy.api.http.Ending;
import understudy.api.http.JsonBody;
import understudy.api.http.RequestIds;
import understudy.api.http.RoutePart;
import understudy.api.openai.CallParser;
import understudy.api.openai.ParsedCall;

/** Routes of SGLang's own way to generate, and of the sessions in which its requests go on behind each other. */
public final class GenerateRoutes implements RoutePart {
    private final ApiContext api;
    private final CallParser parser;
    private final CallRunner runner;
    private final AdapterNames adapters;
    private final TokenSessions sessions;

    public GenerateRoutes(ApiContext api, CallParser parser, OptionalInt replica) {
        this.api = api;
        this.parser = parser;
        runner = new CallRunner(api);
        adapters = new AdapterNames(api.loras(), replica);
        // The name of a call has a prefix of its API.
        sessions = new TokenSessions(
                () -> api.cluster().time().nowNanos(), rid -> api.state().abort(("cmpl-" + rid)::equals));
    }

    @Override
    public Route route() {
        var bodies = api.bodies();
        return concat(
                path(
                        "generate",
                        () -> concat(bodies.postOfAnyType(this::generate), bodies.putOfAnyType(this::generate))),
                new SessionRoutes(api, sessions).route());
    }

    private CompletionStage<HttpResponse> generate(HttpRequest request, JsonBody body) {
        boolean streams = body.node().path("stream").asBoolean(false);
        return SglangErrors.inItsWords(streams, () -> {
            boolean hasPriorities = api.settings().model().hasPriorities();
            var asked = GenerateRequest.read(body, RequestIds.of(request), adapters, hasPriorities);
            var params = SessionParams.read(body);
            return params == null
                    ? run(request, parser.completion(request, asked.completion()), asked.shape(), null)
                    : goOn(request, asked, params);
        });
    }

    private CompletionStage<HttpResponse> run(
            HttpRequest request, ParsedCall call, GenerateRequest.Shape shape, TokenSessions.@Nullable Turn turn) {
        var params = call.info().params();
        var requests = call.requests(api.sessions().next(request));
        var format = new GenerateFormat(shape, params.n(), call.info().logprobs(), turn);
        return runner.run(request, params, requests, format);
    }

    /** Runs a request of a session behind the tokens of an earlier one. */
    private CompletionStage<HttpResponse> goOn(HttpRequest request, GenerateRequest asked, SessionParams params) {
        if (params.rid() != null) {
            // What stands around a prompt stands around the first one only.
            asked.completion().node().put("add_special_tokens", false);
        }
        var own = parser.completion(request, asked.completion());
        if (asked.shape().isList() || own.info().params().n() > 1) {
            throw ApiException.badRequest(
                    "session_params are supported here for one prompt and one answer only.", null);
        }
        var turn = sessions.begin(params, asked.shape().rid(0), own.firstPrompt());
        try {
            var response = run(request, own.withPrompt(turn.input()), asked.shape(), turn);
            return response.whenComplete((made, failure) -> endWhenWritten(turn, made));
        } catch (RuntimeException e) {
            turn.drop();
            throw e;
        }
    }

    /** A request that is given up has no tokens to go on from, and must not keep its session busy. */
    private static void endWhenWritten(TokenSessions.Turn turn, @Nullable HttpResponse made) {
        var written = made == null
                ? CompletableFuture.<Void>completedStage(null)
                : made.getAttribute(Ending.KEY).map(Ending::written).orElse(CompletableFuture.completedStage(null));
        written.whenComplete((done, failure) -> turn.end(new int[0], false));
    }
}
