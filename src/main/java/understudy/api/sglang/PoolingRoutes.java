package understudy.api.sglang;

import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.PathMatchers.segment;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import org.jspecify.annotations.Nullable;
import understudy.api.call.ApiContext;
import understudy.api.call.CallEvent;
import understudy.api.call.CallRunner;
import understudy.api.http.ApiException;
import understudy.api.http.HttpBodies;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;
import understudy.api.http.RequestIds;
import understudy.api.http.RoutePart;
import understudy.api.model.PoolingSettings;
import understudy.api.model.PoolingSettings.Task;
import understudy.api.model.Tokenizer;
import understudy.api.openai.CallParser;
import understudy.api.openai.ParsedCall;
import understudy.api.pooling.VectorEncoding;
import understudy.api.pooling.Vectors;
import understudy.prompt.TokenSequence;

/**
 * Routes that turn texts into vectors and scores ({@code serving_embedding.py}, {@code serving_rerank.py} and {@code
 * serving_score.py} under {@code entrypoints/openai}, and {@code /encode} of {@code http_server.py}). A model that generates
 * has the scores only.
 */
public final class PoolingRoutes implements RoutePart {
    private static final String NO_VECTORS = "This model does not appear to be an embedding model by default."
            + " Please add `--is-embedding` when launching the server or try another model.";

    /** Most characters, or tokens, of the prompts of a call: each has the query again. */
    private static final long MAX_LENGTH = 1L << 24;

    /** Most numbers of an answer with scores. */
    private static final long MAX_SCORES = 1L << 22;

    private final ApiContext api;
    private final Tokenizer tokenizer;
    private final CallParser parser;
    private final CallRunner runner;
    private final @Nullable PoolingSettings settings;

    public PoolingRoutes(ApiContext api, Tokenizer tokenizer, CallParser parser) {
        this.api = api;
        this.tokenizer = tokenizer;
        this.parser = parser;
        runner = new CallRunner(api);
        settings = api.settings().model().pooling();
    }

    @Override
    public Route route() {
        return concat(
                path(segment("v1").slash("embeddings"), () -> api.bodies().post(this::embed)),
                path(segment("v1").slash("score"), () -> api.bodies().post(this::score)),
                path(segment("v1").slash("rerank"), () -> postOrPut(this::rerank)),
                path("encode", () -> postOrPut(this::encode)),
                path("classify", () -> postOrPut(this::encode)));
    }

    private Route postOrPut(BiFunction<HttpRequest, JsonBody, CompletionStage<HttpResponse>> handler) {
        return concat(api.bodies().postOfAnyType(handler), api.bodies().putOfAnyType(handler));
    }

    private PoolingSettings requireVectors() {
        if (settings == null) {
            throw error(NO_VECTORS);
        }
        return settings;
    }

    private CompletionStage<HttpResponse> embed(HttpRequest request, JsonBody body) {
        var input = body.require("input");
        requireContent(input);
        var pooling = requireVectors();
        int size = dimensions(body, pooling);
        var encoding = VectorEncoding.named(body.text("encoding_format"));
        var call = call(request, body, "embd-", input);
        encoding.requireAtMost(call.prompts().size(), size);
        return run(request, call, choices -> {
            var answer = Json.object();
            var data = answer.putArray("data");
            for (var each : choices) {
                int index = data.size();
                var object = data.addObject();
                object.set("embedding", encoding.write(output(pooling, prompt(each), size)));
                object.put("index", index).put("object", "embedding");
            }
            answer.put("model", api.settings().servedModel()).put("object", "list");
            return answer.set("usage", usage(choices));
        });
    }

    private static void requireContent(JsonNode input) {
        if (input.isTextual() ? input.textValue().isEmpty() : input.isEmpty()) {
            throw error("Input cannot be empty");
        }
        if (input.isTextual() && input.textValue().isBlank()) {
            throw error("Input cannot be empty or whitespace only");
        }
        if (!input.path(0).isTextual()) {
            return;
        }
        for (int i = 0; i < input.size(); i++) {
            if (!input.get(i).isTextual()) {
                throw error("All items in input list must be strings");
            }
            if (input.get(i).textValue().isBlank()) {
                throw error("Input at index " + i + " cannot be empty or whitespace only");
            }
        }
    }

    private static int dimensions(JsonBody body, PoolingSettings pooling) {
        int most = pooling.embeddingSize();
        int size = body.integer("dimensions", most);
        if (size < 1) {
            throw error("Requested dimensions must be greater than 0");
        }
        if (size > most) {
            throw error("Provided dimensions are greater than max embedding dimension: " + most);
        }
        return size;
    }

    private CompletionStage<HttpResponse> encode(HttpRequest request, JsonBody body) {
        var text = body.get("text");
        var ids = body.get("input_ids");
        var input = text == null ? ids : text;
        if (input == null) {
            throw error("At least one of text, input_ids, or image should be provided");
        }
        if (text != null && ids != null) {
            throw error("text and input_ids cannot be provided at the same time");
        }
        if (text != null && !text.isTextual() && !text.path(0).isTextual()) {
            throw ApiException.invalid("Input should be a valid string", "body.text");
        }
        var pooling = requireVectors();
        int size = dimensions(body, pooling);
        boolean isList = input.path(0).isTextual() || input.path(0).isArray();
        var encoding = VectorEncoding.named(null);
        var call = call(request, body, "embd-", input);
        encoding.requireAtMost(call.prompts().size(), size);
        String name = name(request, body);
        return run(request, call, choices -> {
            var answers = Json.array();
            for (var each : choices) {
                var answer = answers.addObject();
                answer.set("embedding", encoding.write(output(pooling, prompt(each), size)));
                answer.set("meta_info", meta(each, isList ? name + "_" + (answers.size() - 1) : name));
            }
            return isList ? answers : answers.get(0);
        });
    }

    private CompletionStage<HttpResponse> rerank(HttpRequest request, JsonBody body) {
        var query = body.require("query");
        var documents = body.require("documents");
        if (!query.isTextual()) {
            throw ApiException.invalid("Input should be a valid string", body.at("query"));
        }
        if (!documents.isArray()) {
            throw ApiException.invalid("Input should be a valid list", body.at("documents"));
        }
        requireContent(query.textValue(), documents);
        int most = body.integer("top_n", documents.size());
        if (most < 1) {
            throw ApiException.invalid(
                    "Value error, Value error, parameter top_n should be larger than 0.", body.at("top_n"));
        }
        if (requireVectors().task() != Task.SCORE) {
            throw error("/v1/rerank is for models with server.task = score here");
        }
        boolean hasDocuments = body.bool("return_documents", true);
        requireShort(query.textValue().length(), documents);
        var pairs = new ArrayList<String[]>();
        documents.forEach(each -> pairs.add(new String[] {query.textValue(), each.textValue()}));
        String name = name(request, body);
        var call = parser.pooled(request, asked(request, body), "rerank-", pairs);
        return run(request, call, choices -> {
            var results = new ArrayList<ObjectNode>();
            for (var each : choices) {
                int index = results.size();
                var result = Json.object().put("score", (float) Vectors.score(prompt(each)));
                if (hasDocuments) {
                    result.set("document", documents.get(index));
                }
                result.put("index", index).set("meta_info", meta(each, name + "_" + index));
                results.add(result);
            }
            results.sort(Comparator.comparingDouble(each -> -each.get("score").doubleValue()));
            return Json.array().addAll(results.subList(0, Math.min(most, results.size())));
        });
    }

    private static void requireContent(String query, JsonNode documents) {
        if (query.isEmpty()) {
            throw error("Query cannot be empty");
        }
        if (query.isBlank()) {
            throw error("Query cannot be empty or whitespace only");
        }
        if (documents.isEmpty()) {
            throw error("Documents cannot be empty");
        }
        for (var each : documents) {
            if (!each.isTextual() || each.textValue().isEmpty()) {
                throw error("Each document must be a non-empty string");
            }
            if (each.textValue().isBlank()) {
                throw error("Each document cannot be empty or whitespace only");
            }
        }
    }

    /** Probabilities of tokens behind a query and an item ({@code tokenizer_manager_score_mixin.py}). */
    private CompletionStage<HttpResponse> score(HttpRequest request, JsonBody body) {
        var items = body.get("items");
        boolean hasLabels = body.get("label_token_ids") != null;
        if (settings == null && !hasLabels) {
            throw error("label_token_ids is required for generation (CausalLM) models.");
        }
        if (items == null) {
            throw error("items must be provided");
        }
        int[] labels = hasLabels ? body.tokens("label_token_ids") : new int[0];
        tokenizer.requireKnown(labels);
        String given = body.text("model");
        String model = given == null ? "default" : given;
        if (items.isTextual() ? items.textValue().isEmpty() : items.isEmpty()) {
            return CompletableFuture.completedFuture(HttpBodies.json(200, scores(Json.array(), model, List.of())));
        }
        boolean isSoft = body.bool("apply_softmax", false);
        var prompts = prompts(body.get("query"), items, body.bool("item_first", false));
        int numScores = settings == null ? labels.length : settings.embeddingSize();
        if ((long) prompts.size() * numScores > MAX_SCORES) {
            throw error("A call must have at most " + MAX_SCORES + " scores here");
        }
        return run(request, call(request, body, "score-", prompts), choices -> {
            var scores = Json.array();
            choices.forEach(each -> scores.add(Vectors.list(scores(prompt(each), labels, isSoft))));
            return scores(scores, model, choices);
        });
    }

    private static ObjectNode scores(ArrayNode scores, String model, List<CallEvent.Piece> choices) {
        var answer = Json.object();
        answer.set("scores", scores);
        answer.putNull("pooled_hidden_states").put("model", model);
        answer.set("usage", usage(choices));
        return answer.put("object", "scoring");
    }

    private double[] scores(TokenSequence prompt, int[] labels, boolean isSoft) {
        if (settings != null) {
            var output = output(settings, prompt, settings.embeddingSize());
            return isSoft ? Vectors.softmax(output) : output;
        }
        // Behind the labels, all other tokens together.
        var logits = Arrays.copyOf(Vectors.draw(prompt, labels), isSoft ? labels.length : labels.length + 1);
        return Arrays.copyOf(Vectors.softmax(logits), labels.length);
    }

    /** Returns texts, or lists of token ids, each a query with an item. */
    private static ArrayNode prompts(@Nullable JsonNode query, JsonNode items, boolean isItemFirst) {
        var list = items.isTextual() ? Json.array().add(items) : items;
        if (query == null || !(query.isTextual() || query.isArray()) || !list.isArray()) {
            throw mixed();
        }
        requireShort(query.isTextual() ? query.textValue().length() : query.size(), list);
        var prompts = Json.array();
        for (var item : list) {
            var first = isItemFirst ? item : query;
            var second = isItemFirst ? query : item;
            if (first.isTextual() && second.isTextual()) {
                prompts.add(first.textValue() + second.textValue());
            } else if (first.isArray() && second.isArray()) {
                prompts.addArray().addAll((ArrayNode) first).addAll((ArrayNode) second);
            } else {
                throw mixed();
            }
        }
        return prompts;
    }

    private static ApiException mixed() {
        return error("Invalid combination of query/items types for score_request.");
    }

    private static void requireShort(int queryLength, JsonNode items) {
        if ((long) queryLength * items.size() > MAX_LENGTH) {
            throw error("query must have at most " + MAX_LENGTH / items.size() + " characters or tokens here, with "
                    + items.size() + " items");
        }
    }

    private ParsedCall call(HttpRequest request, JsonBody body, String prefix, JsonNode input) {
        var asked = asked(request, body);
        asked.node().set("input", input);
        return parser.pooled(request, asked, prefix);
    }

    /** Returns what a call says beside its input: fields that SGLang does not know are ignored. */
    private JsonBody asked(HttpRequest request, JsonBody body) {
        var asked = Json.object().put("request_id", name(request, body));
        if (api.settings().model().hasPriorities() && body.get("priority") != null) {
            asked.set("priority", body.get("priority"));
        }
        return new JsonBody(asked);
    }

    private static String name(HttpRequest request, JsonBody body) {
        String rid = OpenAiRequest.Asked.rid(body);
        return rid == null ? RequestIds.of(request) : rid;
    }

    private CompletionStage<HttpResponse> run(
            HttpRequest request, ParsedCall call, Function<List<CallEvent.Piece>, JsonNode> answer) {
        return runner.runWhole(request, call.requests(api.sessions().next(request)), answer);
    }

    private static TokenSequence prompt(CallEvent.Piece choice) {
        return choice.generation().spec().prompt();
    }

    private static double[] output(PoolingSettings pooling, TokenSequence prompt, int size) {
        return switch (pooling.task()) {
            case EMBED -> Vectors.unit(Vectors.draw(prompt, pooling.embeddingSize()), size);
            case CLASSIFY -> Vectors.draw(prompt, pooling.numLabels());
            case SCORE -> new double[] {Vectors.score(prompt)};
        };
    }

    /** A prefill has no output: it ends for its length. */
    private static ObjectNode meta(CallEvent.Piece choice, String id) {
        var meta = Json.object().put("id", id);
        meta.putObject("finish_reason").put("type", "length").put("length", 0);
        return meta.put("prompt_tokens", prompt(choice).length())
                .put("weight_version", "default")
                .put("e2e_latency", choice.generation().tookNanos() / 1e9);
    }

    private static ObjectNode usage(List<CallEvent.Piece> choices) {
        int numTokens = choices.stream().mapToInt(each -> prompt(each).length()).sum();
        return Json.object()
                .put("prompt_tokens", numTokens)
                .put("total_tokens", numTokens)
                .put("completion_tokens", 0)
                .putNull("prompt_tokens_details")
                .put("reasoning_tokens", 0);
    }

    private static ApiException error(String message) {
        return ApiException.badRequest(message, null);
    }
}
