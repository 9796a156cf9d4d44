package understudy.api.sglang;

import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.PathMatchers.segment;

import java.util.OptionalInt;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import understudy.api.call.ApiContext;
import understudy.api.call.CallFormat;
import understudy.api.call.CallRunner;
import understudy.api.http.JsonBody;
import understudy.api.http.RequestIds;
import understudy.api.http.RoutePart;
import understudy.api.openai.CallParser;
import understudy.api.openai.ParsedCall;

/**
 * Routes of chat completions and completions as SGLang has them; a port has them in place of vLLM's if all engines behind it
 * are SGLang's.
 */
public final class OpenAiRoutes implements RoutePart {
    private final ApiContext api;
    private final CallParser parser;
    private final CallRunner runner;
    private final AdapterNames adapters;

    public OpenAiRoutes(ApiContext api, CallParser parser, OptionalInt replica) {
        this.api = api;
        this.parser = parser;
        runner = new CallRunner(api);
        adapters = new AdapterNames(api.loras(), replica);
    }

    @Override
    public Route route() {
        var bodies = api.bodies();
        return concat(
                path(segment("v1").slash("chat").slash("completions"), () -> bodies.post(this::chat)),
                path("invocations", () -> bodies.postOfAnyType(this::chat)),
                path(segment("v1").slash("completions"), () -> bodies.post(this::completion)));
    }

    private CompletionStage<HttpResponse> chat(HttpRequest request, JsonBody body) {
        var asked = OpenAiRequest.chat(body, adapters, api.settings().model().hasPriorities());
        return run(request, parser.chat(request, asked.call()), asked.asked(), ChatFormat::new);
    }

    private CompletionStage<HttpResponse> completion(HttpRequest request, JsonBody body) {
        var asked =
                OpenAiRequest.completion(body, adapters, api.settings().model().hasPriorities());
        boolean echoes = body.bool("echo", false);
        var call = parser.completion(request, asked.call());
        return run(request, call, asked.asked(), fields -> new CompletionFormat(fields, echoes));
    }

    /** The name of a call is its {@code rid}, without anything before it. */
    private CompletionStage<HttpResponse> run(
            HttpRequest request,
            ParsedCall parsed,
            OpenAiRequest.Asked asked,
            Function<AnswerFields, CallFormat> format) {
        String id = asked.rid() == null ? RequestIds.of(request) : asked.rid();
        var call = parsed.named(id, asked.model());
        var fields =
                new AnswerFields(call.info(), asked, api.settings().sglang().reportsCache());
        var requests = call.requests(api.sessions().next(request));
        return runner.run(request, call.info().params(), requests, format.apply(fields));
    }
}
