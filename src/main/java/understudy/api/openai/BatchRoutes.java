package understudy.api.openai;

import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.PathMatchers.segment;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import understudy.api.call.ApiContext;
import understudy.api.call.CallRunner;
import understudy.api.http.ApiException;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;
import understudy.api.http.RoutePart;

/** Route of several conversations in one call, with one answer each (vLLM {@code OpenAIServingChatBatch}). */
public final class BatchRoutes implements RoutePart {
    private final ApiContext api;
    private final CallParser parser;
    private final CallRunner runner;

    public BatchRoutes(ApiContext api, CallParser parser) {
        this.api = api;
        this.parser = parser;
        runner = new CallRunner(api);
    }

    @Override
    public Route route() {
        var bodies = api.bodies();
        return path(
                segment("v1").slash("chat").slash("completions").slash("batch"), () -> bodies.post(this::completions));
    }

    private CompletionStage<HttpResponse> completions(HttpRequest request, JsonBody body) {
        refuse(body.bool("stream", false), "streaming", "stream");
        refuse(body.get("tools") != null, "tool use", "tools");
        refuse(body.bool("use_beam_search", false), "beam search", "use_beam_search");
        refuse(body.integer("n", 1) != 1, "n > 1", "n");
        var call = parser.chats(request, body.without("messages"), conversations(body));
        var requests = call.requests(api.sessions().next(request));
        return runner.run(request, call.info().params(), requests, new ChatFormat(call.info(), false));
    }

    private static void refuse(boolean isAsked, String what, String param) {
        if (isAsked) {
            throw ApiException.badRequest("Batch chat completions do not support " + what + ".", param);
        }
    }

    private static List<JsonBody> conversations(JsonBody body) {
        var all = body.require("messages");
        if (!all.isArray()) {
            throw ApiException.invalid("Input should be a valid list", body.at("messages"));
        }
        if (all.isEmpty()) {
            throw ApiException.invalid("List should have at least 1 item after validation, not 0", body.at("messages"));
        }
        var conversations = new ArrayList<JsonBody>();
        for (var each : all) {
            if (!each.isArray()) {
                throw ApiException.invalid(
                        "Input should be a valid list", body.at("messages") + "." + conversations.size());
            }
            conversations.add(new JsonBody(Json.object().set("messages", each)));
        }
        return conversations;
    }
}
