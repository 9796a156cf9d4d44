package understudy.api.pooling;

import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.Directives.reject;
import static org.apache.pekko.http.javadsl.server.PathMatchers.segment;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import understudy.api.call.ApiContext;
import understudy.api.call.CallRunner;
import understudy.api.http.ApiException;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;
import understudy.api.http.RoutePart;
import understudy.api.model.PoolingSettings;
import understudy.api.model.PoolingSettings.Task;
import understudy.api.openai.CallInfo;
import understudy.api.openai.CallParser;
import understudy.prompt.TokenSequence;

/**
 * Routes that compare texts (vLLM {@code ServingScores}). A cross-encoder reads two texts together; a model of embeddings
 * reads each by itself, and their likeness is the score.
 */
public final class ScoreRoutes implements RoutePart {
    private static final int MAX_PAIRS = 4096;
    private static final String[][] NAMES = {
        {"queries", "documents"}, {"queries", "items"}, {"data_1", "data_2"}, {"text_1", "text_2"}
    };

    private final ApiContext api;
    private final CallParser parser;
    private final PoolingSettings settings;
    private final CallRunner runner;

    public ScoreRoutes(ApiContext api, CallParser parser, PoolingSettings settings) {
        this.api = api;
        this.parser = parser;
        this.settings = settings;
        runner = new CallRunner(api);
    }

    /** Scores of pairs, and the tokens that they cost. */
    private static final class Scores {
        private final double[] values;
        private final int numTokens;

        Scores(double[] values, int numTokens) {
            this.values = values;
            this.numTokens = numTokens;
        }
    }

    @Override
    public Route route() {
        if (settings.task() == Task.CLASSIFY) {
            return reject();
        }
        var bodies = api.bodies();
        return concat(
                path("score", () -> bodies.post(this::score)),
                path(segment("v1").slash("score"), () -> bodies.post(this::score)),
                path("rerank", () -> bodies.post(this::rerank)),
                path(segment("v1").slash("rerank"), () -> bodies.post(this::rerank)),
                path(segment("v2").slash("rerank"), () -> bodies.post(this::rerank)));
    }

    private CompletionStage<HttpResponse> score(HttpRequest request, JsonBody body) {
        String[] names = NAMES[NAMES.length - 1];
        for (int i = NAMES.length - 1; i >= 0; i--) {
            if (body.get(NAMES[i][0]) != null && body.get(NAMES[i][1]) != null) {
                names = NAMES[i];
            }
        }
        var first = texts(body, names[0]);
        var second = texts(body, names[1]);
        return run(request, body, first, second, (info, scores) -> {
            var answer = info.open("list");
            var data = answer.putArray("data");
            for (double value : scores.values) {
                data.addObject()
                        .put("index", data.size() - 1)
                        .put("object", "score")
                        .put("score", (float) value);
            }
            return answer.set("usage", PoolingUsage.of(scores.numTokens));
        });
    }

    private CompletionStage<HttpResponse> rerank(HttpRequest request, JsonBody body) {
        var query = body.require("query");
        if (query.isArray()) {
            throw ApiException.invalid("Input should be a valid string", body.at("query"));
        }
        var documents = texts(body, "documents");
        int asked = body.integer("top_n", 0);
        int most = asked > 0 ? Math.min(asked, documents.size()) : documents.size();
        return run(request, body, texts(body, "query"), documents, (info, scores) -> {
            var answer = Json.object().put("id", info.id()).put("model", info.model());
            answer.putObject("usage").put("prompt_tokens", scores.numTokens).put("total_tokens", scores.numTokens);
            var results = answer.putArray("results");
            IntStream.range(0, documents.size())
                    .boxed()
                    .sorted(Comparator.comparingDouble(i -> -scores.values[i]))
                    .limit(most)
                    .forEach(i -> addResult(results.addObject(), i, documents.get(i), scores.values[i]));
            return answer;
        });
    }

    private static void addResult(ObjectNode result, int index, String document, double score) {
        result.put("index", index);
        result.putObject("document").put("text", document).putNull("multi_modal");
        result.put("relevance_score", (float) score);
    }

    private CompletionStage<HttpResponse> run(
            HttpRequest request,
            JsonBody body,
            List<String> first,
            List<String> second,
            BiFunction<CallInfo, Scores, ObjectNode> answer) {
        requireFit(first.size(), second.size());
        boolean readsTogether = settings.task() == Task.SCORE;
        var prompts = new ArrayList<String[]>();
        if (readsTogether) {
            for (int i = 0; i < second.size(); i++) {
                prompts.add(new String[] {first.get(first.size() == 1 ? 0 : i), second.get(i)});
            }
        } else {
            first.forEach(text -> prompts.add(new String[] {text, ""}));
            second.forEach(text -> prompts.add(new String[] {text, ""}));
        }
        var call = parser.pooled(request, body, "score-", prompts);
        var requests = call.requests(api.sessions().next(request));
        return runner.runWhole(request, requests, choices -> {
            var read = PoolingUsage.prompts(choices);
            return answer.apply(call.info(), readsTogether ? ofPairs(read) : ofLikeness(read, first.size()));
        });
    }

    private static void requireFit(int numFirst, int numSecond) {
        if (numFirst == 0) {
            throw ApiException.badRequest("At least one text element must be given", null);
        }
        if (numSecond == 0) {
            throw ApiException.badRequest("At least one text_pair element must be given", null);
        }
        if (numFirst != 1 && numFirst != numSecond) {
            throw ApiException.badRequest("Input lengths must be either 1:1, 1:N or N:N", null);
        }
        if (numSecond > MAX_PAIRS / 2) {
            throw ApiException.badRequest("A call must have at most " + MAX_PAIRS / 2 + " pairs here", null);
        }
    }

    private static Scores ofPairs(List<TokenSequence> prompts) {
        return new Scores(prompts.stream().mapToDouble(Vectors::score).toArray(), PoolingUsage.numTokens(prompts));
    }

    /** As in vLLM, a pair has the tokens of both its texts, also where a text is compared with many. */
    private Scores ofLikeness(List<TokenSequence> prompts, int numFirst) {
        int size = settings.embeddingSize();
        var values = new double[prompts.size() - numFirst];
        var one = vector(prompts.get(0), size);
        int numTokens = 0;
        for (int i = 0; i < values.length; i++) {
            int first = numFirst == 1 ? 0 : i;
            one = numFirst == 1 ? one : vector(prompts.get(first), size);
            values[i] = Vectors.cosine(one, vector(prompts.get(numFirst + i), size));
            numTokens += prompts.get(first).length() + prompts.get(numFirst + i).length();
        }
        return new Scores(values, numTokens);
    }

    private static double[] vector(TokenSequence prompt, int size) {
        return Vectors.unit(Vectors.draw(prompt, size), size);
    }

    private static List<String> texts(JsonBody body, String key) {
        var value = body.require(key);
        if (!value.isArray()) {
            return List.of(text(value, body.at(key)));
        }
        var texts = new ArrayList<String>();
        for (var each : value) {
            texts.add(text(each, body.at(key) + "." + texts.size()));
        }
        return texts;
    }

    /** A text, or an object whose content is one or has nothing but texts. */
    private static String text(JsonNode value, String path) {
        if (value.isTextual()) {
            return value.textValue();
        }
        var content = value.isObject() ? value.path("content") : value;
        if (content.isTextual() && value.isObject()) {
            return content.textValue();
        }
        if (!content.isArray() || value.isArray()) {
            throw ApiException.invalid("Input should be a valid string", path);
        }
        var texts = new ArrayList<String>();
        for (var part : content) {
            if (!part.path("text").isTextual()) {
                throw ApiException.badRequest(
                        "This model does not support the content part type "
                                + part.path("type").asText(""),
                        path);
            }
            texts.add(part.path("text").textValue());
        }
        return String.join("\n", texts);
    }
}
