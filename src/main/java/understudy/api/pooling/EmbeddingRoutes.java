package understudy.api.pooling;

import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.PathMatchers.segment;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import understudy.api.call.ApiContext;
import understudy.api.call.CallRunner;
import understudy.api.http.ApiException;
import understudy.api.http.JsonBody;
import understudy.api.http.RoutePart;
import understudy.api.model.PoolingSettings;
import understudy.api.model.PoolingSettings.Task;
import understudy.api.openai.CallInfo;
import understudy.api.openai.CallParser;
import understudy.api.openai.ParsedCall;
import understudy.prompt.TokenSequence;

/** Routes with an output for each input: embeddings, classes, and what a pooling model has of both. */
public final class EmbeddingRoutes implements RoutePart {
    private final ApiContext api;
    private final CallParser parser;
    private final PoolingSettings settings;
    private final CallRunner runner;

    public EmbeddingRoutes(ApiContext api, CallParser parser, PoolingSettings settings) {
        this.api = api;
        this.parser = parser;
        this.settings = settings;
        runner = new CallRunner(api);
    }

    @Override
    public Route route() {
        var bodies = api.bodies();
        var routes = new ArrayList<Route>(List.of(path("pooling", () -> bodies.post(this::pool))));
        if (settings.task() == Task.EMBED) {
            routes.add(path(segment("v1").slash("embeddings"), () -> bodies.post(this::embed)));
        } else if (settings.task() == Task.CLASSIFY) {
            routes.add(path("classify", () -> bodies.post(this::classify)));
        }
        return concat(routes.get(0), routes.subList(1, routes.size()).toArray(Route[]::new));
    }

    private CompletionStage<HttpResponse> embed(HttpRequest request, JsonBody body) {
        int size = dimensions(body);
        boolean isNormal = body.bool("normalize", true);
        var encoding = VectorEncoding.of(body);
        var call = parser.pooled(request, body, "embd-");
        encoding.requireAtMost(call.prompts().size(), size);
        return run(request, call, prompts -> {
            var answer = open(call.info());
            var data = answer.putArray("data");
            for (var prompt : prompts) {
                var item = data.addObject().put("index", data.size() - 1).put("object", "embedding");
                item.set("embedding", encoding.write(vector(prompt, size, isNormal)));
            }
            return answer;
        });
    }

    private int dimensions(JsonBody body) {
        int size = body.integer("dimensions", settings.embeddingSize());
        if (size < 1) {
            throw ApiException.badRequest("Dimensions must be greater than 0", "dimensions");
        }
        if (size > settings.embeddingSize()) {
            throw ApiException.badRequest(
                    "Model \"" + api.settings().servedModel() + "\" only supports up to " + settings.embeddingSize()
                            + " dimensions, got " + size + ".",
                    "dimensions");
        }
        return size;
    }

    private double[] vector(TokenSequence prompt, int size, boolean isNormal) {
        var drawn = Vectors.draw(prompt, settings.embeddingSize());
        return isNormal ? Vectors.unit(drawn, size) : Arrays.copyOf(drawn, size);
    }

    private CompletionStage<HttpResponse> classify(HttpRequest request, JsonBody body) {
        boolean isActivated = isActivated(body);
        var call = parser.pooled(request, body, "classify-");
        return run(request, call, prompts -> {
            var answer = open(call.info());
            var data = answer.putArray("data");
            for (var prompt : prompts) {
                var classes = classes(prompt, isActivated);
                int best = 0;
                for (int i = 1; i < classes.length; i++) {
                    best = classes[i] > classes[best] ? i : best;
                }
                var item = data.addObject().put("index", data.size() - 1).put("label", "LABEL_" + best);
                item.set("probs", Vectors.list(classes));
                item.put("num_classes", classes.length);
            }
            return answer;
        });
    }

    private double[] classes(TokenSequence prompt, boolean isActivated) {
        var logits = Vectors.draw(prompt, settings.numLabels());
        return isActivated ? Vectors.softmax(logits) : logits;
    }

    private static boolean isActivated(JsonBody body) {
        return body.bool("use_activation", body.bool("activation", body.bool("softmax", true)));
    }

    private CompletionStage<HttpResponse> pool(HttpRequest request, JsonBody body) {
        if (body.get("dimensions") != null) {
            throw ApiException.badRequest("dimensions is currently not supported", "dimensions");
        }
        String own = settings.task() == Task.EMBED ? "embed" : "classify";
        String asked = body.text("task");
        if (asked != null && !asked.equals(own)) {
            throw ApiException.badRequest(
                    "Unsupported task: '" + asked + "' Supported tasks: ('" + own + "',)", "task");
        }
        boolean isNormal = body.bool("normalize", true);
        boolean isActivated = isActivated(body);
        var encoding = VectorEncoding.of(body);
        var call = parser.pooled(request, body, "pooling-");
        encoding.requireAtMost(call.prompts().size(), settings.embeddingSize());
        return run(request, call, prompts -> {
            var answer = open(call.info());
            var data = answer.putArray("data");
            for (var prompt : prompts) {
                var item = data.addObject().put("index", data.size() - 1).put("object", "pooling");
                var output = switch (settings.task()) {
                    case EMBED -> vector(prompt, settings.embeddingSize(), isNormal);
                    case CLASSIFY -> classes(prompt, isActivated);
                    case SCORE -> new double[] {Vectors.score(prompt)};
                };
                item.set("data", encoding.write(output));
            }
            return answer;
        });
    }

    private CompletionStage<HttpResponse> run(
            HttpRequest request, ParsedCall call, Function<List<TokenSequence>, ObjectNode> answer) {
        var requests = call.requests(api.sessions().next(request));
        return runner.runWhole(request, requests, choices -> {
            var prompts = PoolingUsage.prompts(choices);
            return answer.apply(prompts).set("usage", PoolingUsage.of(PoolingUsage.numTokens(prompts)));
        });
    }

    private static ObjectNode open(CallInfo info) {
        return info.open("list");
    }
}
