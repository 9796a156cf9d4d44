package understudy.api.sglang;

import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.PathMatchers.segment;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import understudy.api.call.ApiContext;
import understudy.api.http.ApiException;
import understudy.api.http.HttpBodies;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;
import understudy.api.http.RoutePart;
import understudy.api.model.PromptText;
import understudy.api.model.Tokenizer;
import understudy.api.openai.CallParser;
import understudy.prompt.TokenIds;
import understudy.prompt.TokenSequence;

/** Routes that turn texts into tokens and back ({@code entrypoints/openai/serving_tokenize.py}). */
public final class TokenizeRoutes implements RoutePart {
    /** Most tokens of all texts of a call; SGLang has no bound here. */
    private static final int MAX_TOKENS = 1 << 17;

    private static final String PROMPT = "prompt";
    private static final String TOKENS = "tokens";

    private final ApiContext api;
    private final Tokenizer tokenizer;
    private final CallParser parser;
    private final AdapterNames adapters;

    public TokenizeRoutes(ApiContext api, Tokenizer tokenizer, CallParser parser, OptionalInt replica) {
        this.api = api;
        this.tokenizer = tokenizer;
        this.parser = parser;
        adapters = new AdapterNames(api.loras(), replica);
    }

    @Override
    public Route route() {
        var bodies = api.bodies();
        return concat(
                path("tokenize", () -> bodies.post(this::tokenize)),
                path("detokenize", () -> bodies.post(this::detokenize)),
                path(segment("v1").slash("tokenize"), () -> bodies.post(this::tokenize)),
                path(segment("v1").slash("detokenize"), () -> bodies.post(this::detokenize)));
    }

    private CompletionStage<HttpResponse> tokenize(HttpRequest request, JsonBody body) {
        var prompt = body.get(PROMPT);
        if ((prompt == null) == (body.get("messages") == null)) {
            throw ApiException.invalid("Value error, Exactly one of 'prompt' or 'messages' must be provided.", "body");
        }
        var answer = Json.object();
        if (prompt == null) {
            var call = OpenAiRequest.chat(body, adapters, false).call();
            var tokens = parser.chat(request, call).firstPrompt();
            answer.set(TOKENS, AnswerFields.ids(tokens));
            answer.put("count", tokens.length());
        } else if (prompt.isTextual()) {
            var tokens = tokens(body, prompt, MAX_TOKENS);
            answer.set(TOKENS, AnswerFields.ids(tokens));
            answer.put("count", tokens.length());
        } else {
            var lists = answer.putArray(TOKENS);
            var counts = answer.putArray("count");
            int numLeft = MAX_TOKENS;
            for (var text : list(prompt, body.at(PROMPT))) {
                var tokens = tokens(body, text, numLeft);
                numLeft -= tokens.length();
                lists.add(AnswerFields.ids(tokens));
                counts.add(tokens.length());
            }
        }
        answer.put("max_model_len", api.settings().model().maxModelLen());
        return CompletableFuture.completedFuture(HttpBodies.json(200, answer));
    }

    private static JsonNode list(JsonNode value, String path) {
        if (!value.isArray()) {
            throw ApiException.invalid("Input should be a valid list", path);
        }
        return value;
    }

    private TokenSequence tokens(JsonBody body, JsonNode text, int most) {
        if (!text.isTextual()) {
            throw ApiException.invalid("Input should be a valid string", body.at(PROMPT));
        }
        var prompt = body.bool("add_special_tokens", true)
                ? PromptText.between(tokenizer, text.textValue())
                : PromptText.of(text.textValue());
        var tokens = new TokenIds(prompt.encode(tokenizer, most + 1));
        requireAtMost(most, tokens.length(), PROMPT);
        return tokens;
    }

    private static void requireAtMost(int most, int numTokens, String field) {
        if (numTokens > most) {
            throw ApiException.badRequest(field + " must have at most " + MAX_TOKENS + " tokens", null);
        }
    }

    private CompletionStage<HttpResponse> detokenize(HttpRequest request, JsonBody body) {
        var tokens = list(body.require(TOKENS), body.at(TOKENS));
        boolean skips = body.bool("skip_special_tokens", true);
        var answer = Json.object();
        if (tokens.path(0).isArray()) {
            requireAtMost(MAX_TOKENS, numTokens((ArrayNode) tokens), TOKENS);
            var texts = answer.putArray("text");
            tokens.forEach(each -> texts.add(text(list(each, body.at(TOKENS)), skips)));
        } else {
            requireAtMost(MAX_TOKENS, tokens.size(), TOKENS);
            answer.put("text", text(tokens, skips));
        }
        return CompletableFuture.completedFuture(HttpBodies.json(200, answer));
    }

    private static int numTokens(ArrayNode lists) {
        int numTokens = 0;
        for (var each : lists) {
            numTokens += each.size();
        }
        return numTokens;
    }

    private String text(JsonNode list, boolean skips) {
        int[] tokens = JsonBody.tokens(list, "body." + TOKENS);
        tokenizer.requireKnown(tokens);
        var shown = IntStream.of(tokens).filter(token -> !skips || !tokenizer.isSpecial(token));
        return tokenizer.decode(new TokenIds(shown.toArray()));
    }
}
