package understudy.api.openai;

import java.util.List;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.jspecify.annotations.Nullable;
import understudy.api.call.ApiContext;
import understudy.api.call.GenerationParams;
import understudy.api.http.ApiException;
import understudy.api.http.JsonBody;
import understudy.api.http.RequestIds;
import understudy.api.model.ChatMessage;
import understudy.api.model.ChatPrompt;
import understudy.api.model.ChatTemplate;
import understudy.api.model.Tokenizer;
import understudy.api.model.ToolDefinition;
import understudy.prompt.TokenIds;
import understudy.runtime.EpochClock;

/** Parser of the calls of chat completions and completions; refuses what vLLM's front end refuses. */
public final class CallParser {
    private static final List<String> CHAT_MAX_TOKENS = List.of("max_completion_tokens", "max_tokens");
    private static final List<String> REASONING_EFFORTS =
            List.of("none", "minimal", "low", "medium", "high", "xhigh", "max");
    private static final int COMPLETION_MAX_TOKENS = 16;

    private final ApiContext api;
    private final Tokenizer tokenizer;
    private final ChatTemplate template;
    private final SpecBuilder specs;

    public CallParser(ApiContext api, Tokenizer tokenizer, SpecBuilder specs) {
        this.api = api;
        this.tokenizer = tokenizer;
        this.specs = specs;
        template = ChatTemplate.of(api.settings().model(), tokenizer, EpochClock::localTime);
    }

    /** Reads a chat completion. */
    public ParsedCall chat(HttpRequest request, JsonBody body) {
        specs.requireModel(body.text("model"));
        body.require("messages");
        body.requireOneOf("reasoning_effort", REASONING_EFFORTS);
        var params = GenerationParams.read(body, CHAT_MAX_TOKENS, null, chatLogprobs(body));
        var messages = body.objects("messages").stream().map(ChatMessage::read).toList();
        ToolChoice.requireValid(body);
        var tools = ToolDefinition.readAll(body);
        var tool = ToolChoice.choose(body, tools, messages);
        var constraint = StructuredOutputs.readChat(body);
        var limit = PromptLimit.of(api.settings().model(), params);
        var prompt = prompt(body, messages, limit);
        var info = info("chatcmpl-", request, body, params);
        // A constraint holds from the first token on, so the model cannot decide for a call of its own.
        boolean mayCall = constraint == null || ToolChoice.isForced(body);
        var shape = new SpecBuilder.Shape(mayCall ? tool : null, constraint);
        return new ParsedCall(specs, info, List.of(prompt), shape, ToolChoice.isNamed(body));
    }

    /** Reads a completion. */
    ParsedCall completion(HttpRequest request, JsonBody body) {
        specs.requireModel(body.text("model"));
        if (body.get("suffix") != null && !"".equals(body.text("suffix"))) {
            throw ApiException.badRequest("suffix is not currently supported", "suffix");
        }
        int logprobs = logprobs(body);
        // vLLM's engine samples a token for a prompt that is answered alone, too, which is not shown.
        var params = CompletionFormat.Echo.of(body) == CompletionFormat.Echo.ALONE
                ? GenerationParams.read(body, List.of(), 1, logprobs)
                : GenerationParams.read(body, List.of("max_tokens"), COMPLETION_MAX_TOKENS, logprobs);
        if (params.streams() && body.bool("use_beam_search", false)) {
            throw ApiException.badRequest("Streaming is not currently supported with beam search", null);
        }
        var prompts = EncodedPrompt.read(
                body, tokenizer, PromptLimit.of(api.settings().model(), params));
        var shape = new SpecBuilder.Shape(null, StructuredOutputs.read(body));
        var info = info("cmpl-", request, body, params);
        return new ParsedCall(specs, info, prompts, shape, false);
    }

    private static int logprobs(JsonBody body) {
        var asked = body.get("logprobs");
        if (asked != null && asked.isNumber() && asked.asDouble() < 0) {
            throw ApiException.parameter("`logprobs` must be a positive value.", "logprobs", asked);
        }
        return GenerationParams.countOfLogprobs(body, "logprobs");
    }

    private static int chatLogprobs(JsonBody body) {
        int top = GenerationParams.countOfLogprobs(body, "top_logprobs");
        boolean isOn = body.bool("logprobs", false);
        if (top > 0 && !isOn) {
            throw ApiException.parameter("when using `top_logprobs`, `logprobs` must be set to true.", "top_logprobs");
        }
        return isOn ? Math.max(0, top) : -1;
    }

    private EncodedPrompt prompt(JsonBody body, List<ChatMessage> messages, PromptLimit limit) {
        var chat = ChatPrompt.read(body, messages, ToolChoice.areShown(body) ? ChatPrompt.tools(body) : null);
        var tokens = new TokenIds(limit.encode(template.render(chat), tokenizer));
        if (tokens.length() == 0) {
            throw ApiException.badRequest("The decoder prompt cannot be empty", "prompt");
        }
        String question =
                messages.isEmpty() ? "" : messages.get(messages.size() - 1).content();
        return new EncodedPrompt(tokens, question, chat.continuesLast());
    }

    private CallInfo info(String prefix, HttpRequest request, JsonBody body, GenerationParams params) {
        @Nullable String asked = body.text("request_id");
        String base = asked == null ? RequestIds.of(request) : asked;
        return new CallInfo(prefix + base, EpochClock.seconds(), specs.modelName(params), params, tokenizer);
    }
}
