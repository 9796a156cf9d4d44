package understudy.api.openai;

import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.path;

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
import understudy.api.media.MediaReader;
import understudy.api.model.ChatMessage;
import understudy.api.model.ChatPrompt;
import understudy.api.model.ChatTemplate;
import understudy.api.model.PromptText;
import understudy.api.model.Tokenizer;
import understudy.prompt.TokenIds;
import understudy.runtime.EpochClock;

/** Routes that turn text into tokens and tokens into text. */
public final class TokenRoutes implements RoutePart {
    /** Most tokens to answer with; vLLM knows no limit here, but what is counted may be longer than any context. */
    private static final int MAX_TOKENS = 1 << 20;

    /** Most tokens to make a text of, each of which may have a hundred characters. */
    private static final int MAX_DETOKENIZED = 1 << 17;

    private final ApiContext api;
    private final Tokenizer tokenizer;
    private final ChatTemplate template;

    public TokenRoutes(ApiContext api, Tokenizer tokenizer) {
        this.api = api;
        this.tokenizer = tokenizer;
        template = ChatTemplate.of(api.settings().model(), tokenizer, EpochClock::localTime);
    }

    @Override
    public Route route() {
        var bodies = api.bodies();
        return concat(
                path("tokenize", () -> bodies.post(this::tokenize)),
                path("detokenize", () -> bodies.post(this::detokenize)));
    }

    private CompletionStage<HttpResponse> tokenize(HttpRequest request, JsonBody body) {
        var text = body.get("messages") == null ? prompt(body) : render(body);
        int most = Math.max(MAX_TOKENS, maxModelLen());
        var tokens = new TokenIds(text.encode(tokenizer, most + 1));
        requireAtMost(most, tokens.length(), "prompt");
        var answer = Json.object().put("count", tokens.length()).put("max_model_len", maxModelLen());
        answer.set("tokens", ChatFormat.tokens(tokens));
        if (body.bool("return_token_strs", false)) {
            var texts = answer.putArray("token_strs");
            for (int i = 0; i < tokens.length(); i++) {
                texts.add(tokenizer.decode(tokens.tokenAt(i)));
            }
        } else {
            answer.putNull("token_strs");
        }
        return CompletableFuture.completedFuture(HttpBodies.json(200, answer));
    }

    private int maxModelLen() {
        return api.settings().model().maxModelLen();
    }

    private static void requireAtMost(int most, int numTokens, String param) {
        if (numTokens > most) {
            throw ApiException.badRequest(param + " must have at most " + most + " tokens", param);
        }
    }

    private PromptText prompt(JsonBody body) {
        var prompt = body.require("prompt");
        if (!prompt.isTextual()) {
            throw ApiException.invalid("Input should be a valid string", body.at("prompt"));
        }
        return body.bool("add_special_tokens", true)
                ? PromptText.between(tokenizer, prompt.textValue())
                : PromptText.of(prompt.textValue());
    }

    private PromptText render(JsonBody body) {
        var media = new MediaReader(api.settings().model().media());
        var messages = body.objects("messages").stream()
                .map(each -> ChatMessage.read(each, media))
                .toList();
        return template.render(ChatPrompt.read(body, messages, ChatPrompt.tools(body)));
    }

    private CompletionStage<HttpResponse> detokenize(HttpRequest request, JsonBody body) {
        requireAtMost(
                Math.max(MAX_DETOKENIZED, maxModelLen()), body.require("tokens").size(), "tokens");
        var tokens = body.tokens("tokens");
        tokenizer.requireKnown(tokens);
        String text = tokenizer.decode(new TokenIds(tokens));
        return CompletableFuture.completedFuture(
                HttpBodies.json(200, Json.object().put("prompt", text)));
    }
}
