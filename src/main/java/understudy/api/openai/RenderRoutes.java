package understudy.api.openai;

import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.PathMatchers.segment;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import understudy.api.call.ApiContext;
import understudy.api.http.ApiException;
import understudy.api.http.HttpBodies;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;
import understudy.api.http.RoutePart;

/**
 * Routes that answer what the engine would be sent for a call, in place of the call's answer (vLLM {@code
 * ServingRender}): routers take the token ids from them.
 */
public final class RenderRoutes implements RoutePart {
    private static final List<String> SAMPLING = List.of(
            "n",
            "presence_penalty",
            "frequency_penalty",
            "repetition_penalty",
            "temperature",
            "top_p",
            "top_k",
            "min_p",
            "seed",
            "stop",
            "stop_token_ids",
            "ignore_eos",
            "min_tokens",
            "prompt_logprobs",
            "skip_special_tokens",
            "include_stop_str_in_output");

    private final ApiContext api;
    private final CallParser parser;

    public RenderRoutes(ApiContext api, CallParser parser) {
        this.api = api;
        this.parser = parser;
    }

    @Override
    public Route route() {
        var bodies = api.bodies();
        return concat(
                path(segment("v1").slash("chat").slash("completions").slash("render"), () -> bodies.post(this::chat)),
                path(segment("v1").slash("completions").slash("render"), () -> bodies.post(this::completions)));
    }

    private CompletionStage<HttpResponse> chat(HttpRequest request, JsonBody body) {
        if (body.bool("use_beam_search", false)) {
            throw ApiException.badRequest("Beam search is not supported by the render endpoint", null);
        }
        var call = parser.chat(request, body);
        var rendered = rendered(call, call.info().id(), call.prompts().get(0), body);
        return CompletableFuture.completedFuture(HttpBodies.json(200, rendered));
    }

    private CompletionStage<HttpResponse> completions(HttpRequest request, JsonBody body) {
        var call = parser.completion(request, body);
        var all = Json.array();
        for (var prompt : call.prompts()) {
            String suffix = call.prompts().size() == 1 ? "" : "-" + all.size();
            all.add(rendered(call, call.info().id() + suffix, prompt, body));
        }
        return CompletableFuture.completedFuture(HttpBodies.json(200, all));
    }

    private ObjectNode rendered(ParsedCall call, String id, EncodedPrompt whole, JsonBody body) {
        var params = call.info().params();
        var tokens = whole.truncated(params.truncatePrompt()).tokens();
        int maxTokens = call.specs().limit(params).requireRoom(tokens.length());
        var rendered = Json.object().put("request_id", id);
        rendered.set("token_ids", ChatFormat.tokens(tokens));
        rendered.putNull("assistant_tokens_mask").putNull("token_offsets").putNull("features");
        rendered.set("sampling_params", sampling(body, maxTokens));
        rendered.put("model", body.text("model")).put("stream", params.streams());
        boolean hasOptions = params.streams() && body.get("stream_options") != null;
        rendered.set("stream_options", hasOptions ? body.get("stream_options") : rendered.nullNode());
        return rendered.put("cache_salt", body.text("cache_salt"))
                .put("priority", params.priority())
                .putNull("kv_transfer_params");
    }

    /** Returns the sampling parameters of a request; like vLLM, it leaves out those at their defaults. */
    private static ObjectNode sampling(JsonBody body, int maxTokens) {
        var sampling = Json.object();
        for (String key : SAMPLING) {
            var value = body.get(key);
            if (value != null) {
                sampling.set(key, value);
            }
        }
        return sampling.put("max_tokens", maxTokens);
    }
}
