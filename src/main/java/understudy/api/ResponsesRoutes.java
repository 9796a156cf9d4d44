package understudy.api;

import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.PathMatchers.segment;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import understudy.kvcache.TokenIds;
import understudy.runtime.EpochClock;

/**
 * The Responses API. Of its memory there is only what clients refer to when they go on: items of earlier answers. Responses
 * cannot be fetched, or gone on from as a whole, as with vLLM unless its store is switched on.
 */
final class ResponsesRoutes implements RoutePart {
    private static final long MAX_REMEMBERED_CHARS = 8_000_000;

    private final ApiContext api;
    private final Tokenizer tokenizer;
    private final ChatTemplate template;
    private final SpecBuilder specs;
    private final CallRunner runner;
    private final ResponseItems items = new ResponseItems(MAX_REMEMBERED_CHARS);

    ResponsesRoutes(ApiContext api, Tokenizer tokenizer, SpecBuilder specs) {
        this.api = api;
        this.tokenizer = tokenizer;
        this.specs = specs;
        template = new ChatTemplate(tokenizer);
        runner = new CallRunner(api);
    }

    @Override
    public Route route() {
        var bodies = api.bodies();
        return path(segment("v1").slash("responses"), () -> bodies.post(this::respond));
    }

    private CompletionStage<HttpResponse> respond(HttpRequest request, JsonBody body) {
        specs.requireModel(body.text("model"));
        if (body.get("previous_response_id") != null) {
            throw new ApiException(
                    404,
                    "NotFoundError",
                    "Response with id '" + body.text("previous_response_id") + "' not found.",
                    "previous_response_id");
        }
        var params = GenerationParams.read(body, List.of("max_output_tokens"), null, -1);
        var messages = messages(body);
        var tools = ToolDefinition.readAll(body);
        var tool = ToolChoice.choose(body, tools, messages);
        var schema = GenerationParams.schema(body.object("text").object("format"), "text.format");
        List<JsonNode> shownTools = new ArrayList<>();
        body.objects("tools").forEach(each -> shownTools.add(each.node()));
        var text = template.render(messages, ToolChoice.areShown(body) ? shownTools : List.of(), true, false);
        var tokens = PromptLimit.of(api.settings().model(), params).encode(text, tokenizer);
        String question = messages.get(messages.size() - 1).content();
        var prompt = new EncodedPrompt(new TokenIds(tokens), question, false);
        var info = new CallInfo(
                "resp_" + RequestIds.of(request),
                EpochClock.seconds(),
                api.settings().servedModel(),
                params,
                tokenizer);
        var requests = specs.build(info.id(), List.of(prompt), params, new SpecBuilder.Shape(tool, schema));
        return runner.run(request, params, requests, new ResponsesFormat(info, body.without("input"), items));
    }

    private List<ChatMessage> messages(JsonBody body) {
        var messages = new ArrayList<ChatMessage>();
        String instructions = body.text("instructions");
        if (instructions != null) {
            messages.add(new ChatMessage("system", instructions, List.of()));
        }
        var input = body.require("input");
        if (input.isTextual()) {
            messages.add(new ChatMessage("user", input.textValue(), List.of()));
        } else {
            body.objects("input").forEach(item -> messages.add(message(item)));
        }
        if (messages.isEmpty()) {
            throw ApiException.badRequest("The decoder prompt cannot be empty", "input");
        }
        return messages;
    }

    /** Input items are messages, calls of functions, what came of them, and references to what was answered before. */
    private ChatMessage message(JsonBody item) {
        String type = item.text("type");
        // The type may be left out where there is nothing but an id.
        boolean isReference = "item_reference".equals(type) || (type == null && item.get("role") == null);
        if (isReference && item.get("id") != null) {
            return referred(String.valueOf(item.text("id")));
        }
        if ("function_call".equals(type)) {
            String name = item.text("name");
            String arguments = item.text("arguments");
            var call = new ToolCall(name == null ? "" : name, arguments == null ? "" : arguments);
            return new ChatMessage("assistant", "", List.of(call));
        }
        if ("function_call_output".equals(type)) {
            return new ChatMessage("tool", ChatMessage.text(item.require("output"), item.at("output")), List.of());
        }
        if ("reasoning".equals(type)) {
            return new ChatMessage("assistant", "", List.of());
        }
        return ChatMessage.read(item);
    }

    private ChatMessage referred(String id) {
        return items.find(id)
                .orElseThrow(
                        () -> new ApiException(404, "NotFoundError", "Item with id '" + id + "' not found.", "input"));
    }
}
