package understudy.api.openai;

import static org.apache.pekko.http.javadsl.server.Directives.completeWithFuture;
import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.get;
import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.Directives.post;
import static org.apache.pekko.http.javadsl.server.PathMatchers.segment;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import org.jspecify.annotations.Nullable;
import understudy.api.call.ApiContext;
import understudy.api.call.CallRunner;
import understudy.api.call.GenerationParams;
import understudy.api.call.Sessions;
import understudy.api.http.ApiException;
import understudy.api.http.JsonBody;
import understudy.api.http.RequestIds;
import understudy.api.http.RoutePart;
import understudy.api.media.MediaReader;
import understudy.api.media.Placeholder;
import understudy.api.model.ChatMessage;
import understudy.api.model.ChatPrompt;
import understudy.api.model.ChatTemplate;
import understudy.api.model.Tokenizer;
import understudy.prompt.SessionTurn;
import understudy.prompt.TokenIds;
import understudy.runtime.EpochClock;

/**
 * Routes of the Responses API. They remember only what clients refer to in later calls: earlier responses, and their
 * items. Responses cannot be fetched, as with vLLM unless its store is switched on; without that, vLLM cannot continue
 * them, either.
 */
public final class ResponsesRoutes implements RoutePart {
    private static final long MAX_ITEM_CHARS = 8_000_000;
    private static final long MAX_RESPONSE_CHARS = 32_000_000;
    private static final String NO_BACKGROUND =
            "This vLLM engine does not support `store=True` and therefore does not support the background mode. To"
                    + " enable these features, set the environment variable `VLLM_ENABLE_RESPONSES_API_STORE=1` when"
                    + " launching the vLLM server.";

    private final ApiContext api;
    private final Tokenizer tokenizer;
    private final ChatTemplate template;
    private final SpecBuilder specs;
    private final CallRunner runner;
    private final ResponseItems items = new ResponseItems(MAX_ITEM_CHARS);
    private final ResponseItems responses = new ResponseItems(MAX_RESPONSE_CHARS);

    public ResponsesRoutes(ApiContext api, Tokenizer tokenizer, SpecBuilder specs) {
        this.api = api;
        this.tokenizer = tokenizer;
        this.specs = specs;
        template = ChatTemplate.of(api.settings().model(), tokenizer, EpochClock::localTime);
        runner = new CallRunner(api);
    }

    @Override
    public Route route() {
        var bodies = api.bodies();
        return concat(
                path(segment("v1").slash("responses"), () -> bodies.post(this::respond)),
                path(
                        segment("v1").slash("responses").slash(segment()),
                        id -> get(() -> completeWithFuture(notFound(id)))),
                path(
                        segment("v1").slash("responses").slash(segment()).slash("cancel"),
                        id -> post(() -> completeWithFuture(notFound(id)))));
    }

    /** Without its store, vLLM knows no response by its id. */
    private static CompletionStage<HttpResponse> notFound(String id) {
        return CompletableFuture.failedFuture(new ApiException(
                404, "invalid_request_error", "Response with id '" + id + "' not found.", "response_id"));
    }

    private CompletionStage<HttpResponse> respond(HttpRequest request, JsonBody body) {
        specs.requireModel(body.text("model"));
        refuseWhatNeedsAStore(body);
        var params = GenerationParams.read(body, List.of("max_output_tokens"), null, ResponseEcho.logprobs(body));
        var conversation = ResponseInput.read(
                body,
                items,
                new MediaReader(api.settings().model().media()),
                history(body.text("previous_response_id")));
        var messages = ResponseInput.instructed(body, conversation);
        var tools = new ResponseTools(body);
        var tool = tools.choose(messages);
        var constraint = StructuredOutputs.readResponse(body);
        var echo = new ResponseEcho(body);
        var prompt = prompt(body, messages, tools, limit(body, params));
        var info = new CallInfo(
                "resp_" + RequestIds.of(request), EpochClock.seconds(), specs.modelName(params), params, tokenizer);
        boolean isStored = body.bool("store", true);
        var requests = specs.build(
                info.id(),
                List.of(prompt),
                params,
                new SpecBuilder.Shape(tool, constraint),
                turn(request, body.text("previous_response_id"), isStored ? info.id() : null));
        var memory = isStored
                ? new ResponseMemory(items, responses, conversation)
                : new ResponseMemory(new ResponseItems(0), new ResponseItems(0), conversation);
        return runner.run(request, params, requests, new ResponsesFormat(info, echo, tools, memory));
    }

    private List<ChatMessage> history(@Nullable String previous) {
        if (previous == null) {
            return List.of();
        }
        return responses
                .find(previous)
                .orElseThrow(() -> new ApiException(
                        404,
                        "NotFoundError",
                        "Response with id '" + previous + "' not found.",
                        "previous_response_id"));
    }

    /** A session is called as its header says, and as any response of it. */
    private SessionTurn turn(HttpRequest request, @Nullable String previous, @Nullable String stored) {
        String header = Sessions.nameOf(request);
        String ofResponse = previous == null ? stored : previous;
        String name = header == null ? ofResponse : header;
        if (name == null) {
            return SessionTurn.NONE;
        }
        var turn = api.sessions().next(name);
        if (stored != null) {
            api.sessions().addName(name, stored);
        }
        return turn;
    }

    /** Refuses requests that vLLM serves only with its store, and templates of prompts, which it does not know. */
    private static void refuseWhatNeedsAStore(JsonBody body) {
        boolean isBackground = body.bool("background", false);
        if (isBackground && !body.bool("store", true)) {
            throw ApiException.badRequest("background can only be used when `store` is true", "background");
        }
        if (body.get("prompt") != null) {
            throw ApiException.badRequest("prompt template is not supported", "prompt");
        }
        if (isBackground) {
            throw new ApiException(400, "invalid_request_error", NO_BACKGROUND, "background");
        }
    }

    private EncodedPrompt prompt(JsonBody body, List<ChatMessage> messages, ResponseTools tools, PromptLimit limit) {
        var tokens = limit.encode(template.render(ChatPrompt.readResponse(body, messages, tools.shown())), tokenizer);
        String question =
                Placeholder.removeFrom(messages.get(messages.size() - 1).content());
        return new EncodedPrompt(new TokenIds(tokens), question, false).truncated(limit.numKept());
    }

    /** Returns the limit of the prompt, which is cut, if that is asked for, so that there is room for the answer. */
    private PromptLimit limit(JsonBody body, GenerationParams params) {
        var model = api.settings().model();
        var limit = specs.limit(params);
        if (!ResponseEcho.truncates(body)) {
            return limit;
        }
        int numOutput = limit.asked() == null ? 1 : limit.asked();
        int numKept = Math.max(1, model.maxModelLen() - numOutput);
        return new PromptLimit(model.maxModelLen(), limit.asked(), numKept, limit.words());
    }
}
