package understudy.api.sglang;

import static org.apache.pekko.http.javadsl.server.Directives.complete;
import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.get;
import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.PathMatchers.segment;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import org.apache.pekko.util.ByteString;
import understudy.api.call.ApiContext;
import understudy.api.call.CallRunner;
import understudy.api.http.HttpBodies;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;
import understudy.api.http.RequestIds;
import understudy.api.http.RoutePart;
import understudy.api.openai.CallParser;
import understudy.api.openai.ParsedCall;

/** Routes of Ollama's API as SGLang has them ({@code entrypoints/ollama/serving.py}). */
public final class OllamaRoutes implements RoutePart {
    private static final int MAX_NEW_TOKENS = 128;

    /** Options of Ollama by their names as sampling parameters; others have no effect. */
    private static final Map<String, String> OPTIONS = Map.of(
            "temperature", "temperature",
            "top_p", "top_p",
            "top_k", "top_k",
            "num_predict", "max_new_tokens",
            "stop", "stop",
            "presence_penalty", "presence_penalty",
            "frequency_penalty", "frequency_penalty",
            "seed", "sampling_seed");

    private final ApiContext api;
    private final CallParser parser;
    private final CallRunner runner;

    public OllamaRoutes(ApiContext api, CallParser parser) {
        this.api = api;
        this.parser = parser;
        runner = new CallRunner(api);
    }

    @Override
    public Route route() {
        var bodies = api.bodies();
        return concat(
                path(segment("api").slash("chat"), () -> bodies.postOfAnyType(this::chat)),
                path(segment("api").slash("generate"), () -> bodies.postOfAnyType(this::generate)),
                path(segment("api").slash("show"), () -> bodies.postOfAnyType((request, body) -> show(body))),
                path(segment("api").slash("tags"), () -> get(() -> complete(HttpBodies.json(200, tags())))));
    }

    private CompletionStage<HttpResponse> chat(HttpRequest request, JsonBody body) {
        body.require("model");
        body.require("messages");
        var call = call(body);
        var messages = call.putArray("messages");
        for (var message : body.objects("messages")) {
            var content = message.require("content");
            messages.addObject().put("role", message.text("role")).set("content", content);
        }
        return run(request, parser.chat(request, new JsonBody(call)), true);
    }

    private CompletionStage<HttpResponse> generate(HttpRequest request, JsonBody body) {
        body.require("model");
        body.require("prompt");
        String system = body.text("system");
        String prompt = (system == null || system.isEmpty() ? "" : system + "\n\n") + body.text("prompt");
        if (prompt.isBlank()) {
            return CompletableFuture.completedFuture(nothing(body.bool("stream", true)));
        }
        var call = call(body).put("prompt", prompt);
        return run(request, parser.completion(request, new JsonBody(call)), false);
    }

    private HttpResponse nothing(boolean streams) {
        var format = new OllamaFormat(api.settings().servedModel(), false);
        return streams
                ? HttpResponse.create()
                        .withEntity(HttpEntities.create(
                                format.streamType(), ByteString.fromString(OllamaFormat.line(format.nothing()))))
                : HttpBodies.json(200, format.nothing());
    }

    private static ObjectNode call(JsonBody body) {
        var options = body.object("options");
        var sampling = Json.object();
        OPTIONS.forEach((option, name) -> {
            if (options.get(option) != null) {
                sampling.set(name, options.get(option));
            }
        });
        var parameters = new JsonBody(sampling);
        SamplingFields.verify(parameters, MAX_NEW_TOKENS);
        var call = Json.object().put("stream", body.bool("stream", true));
        SamplingFields.copy(parameters, call);
        // One token is sampled in any case.
        return call.put("max_tokens", Math.max(1, parameters.integer("max_new_tokens", MAX_NEW_TOKENS)));
    }

    private CompletionStage<HttpResponse> run(HttpRequest request, ParsedCall parsed, boolean isChat) {
        String model = api.settings().servedModel();
        var call = parsed.named(RequestIds.of(request), model);
        var requests = call.requests(api.sessions().next(request));
        return runner.run(request, call.info().params(), requests, new OllamaFormat(model, isChat));
    }

    private ObjectNode tags() {
        String model = api.settings().servedModel();
        var tags = Json.object();
        var card = tags.putArray("models").addObject();
        card.put("name", model)
                .put("model", model)
                .put("modified_at", OllamaFormat.now())
                .put("size", 0)
                .put("digest", "sha256:sglang" + "0".repeat(58));
        card.putObject("details")
                .put("format", "sglang")
                .put("family", model.substring(model.lastIndexOf('/') + 1))
                .put("parameter_size", "unknown");
        return tags;
    }

    private CompletionStage<HttpResponse> show(JsonBody body) {
        body.require("model");
        String model = String.valueOf(body.text("model"));
        String name = model.substring(model.lastIndexOf('/') + 1);
        String family = Stream.of("-Instruct", "-Chat", "-Base")
                .filter(name::endsWith)
                .findFirst()
                .map(suffix -> name.substring(0, name.length() - suffix.length()))
                .orElse(name);
        int contextLength = api.settings().model().maxModelLen();
        var answer = Json.object()
                .put("modelfile", "FROM " + model + "\nPARAMETER num_ctx " + contextLength + "\n")
                .put("parameters", "num_ctx " + contextLength)
                .put("template", "");
        var details = answer.putObject("details")
                .put("parent_model", "")
                .put("format", "sglang")
                .put("family", family);
        details.putArray("families").add(family);
        details.put("parameter_size", "unknown").put("quantization_level", "");
        answer.putObject("model_info")
                .put("general.architecture", family)
                .put("general.name", model)
                .put("general.parameter_count", 0)
                .put(family + ".context_length", contextLength);
        return CompletableFuture.completedFuture(HttpBodies.json(200, answer));
    }
}
