package understudy.api.openai;

import java.util.List;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.jspecify.annotations.Nullable;
import understudy.api.call.ApiContext;
import understudy.api.call.GenerationParams;
import understudy.api.http.ApiException;
import understudy.api.http.Json;
import understudy.api.http.JsonBody;
import understudy.api.http.RequestIds;
import understudy.api.media.MediaReader;
import understudy.api.media.Placeholder;
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
    private static final List<String> AROUND_SAMPLING = List.of(
            "model", "stream", "stream_options", "cache_salt", "priority", "kv_transfer_params", "return_token_ids");
    private static final List<String> POOLING =
            List.of("model", "user", "priority", "truncate_prompt_tokens", "cache_salt");
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
        return chat(request, body, List.of(messages(body)));
    }

    /**
     * Reads a call of several conversations, each of which has one answer.
     *
     * @param body with what holds for all of them
     */
    ParsedCall chats(HttpRequest request, JsonBody body, List<JsonBody> conversations) {
        specs.requireModel(body.text("model"));
        return chat(request, body, conversations.stream().map(this::messages).toList());
    }

    /** Returns the text of the last message if the call wants it repeated, and if it is of the role that answers. */
    String echoed(JsonBody body) {
        var messages = body.bool("echo", false) ? messages(body) : List.<ChatMessage>of();
        if (messages.isEmpty()) {
            return "";
        }
        var last = messages.get(messages.size() - 1);
        boolean opensAnswer = body.bool("add_generation_prompt", !body.bool("continue_final_message", false));
        return !opensAnswer || last.role().equals("assistant") ? Placeholder.removeFrom(last.content()) : "";
    }

    private List<ChatMessage> messages(JsonBody body) {
        var media = new MediaReader(api.settings().model().media());
        return body.objects("messages").stream()
                .map(each -> ChatMessage.read(each, media))
                .toList();
    }

    private ParsedCall chat(HttpRequest request, JsonBody body, List<List<ChatMessage>> conversations) {
        var params = GenerationParams.read(body, CHAT_MAX_TOKENS, null, chatLogprobs(body));
        ToolChoice.requireValid(body);
        var tools = ToolDefinition.readAll(body);
        var tool = ToolChoice.choose(body, tools, conversations.get(0));
        var constraint = StructuredOutputs.readChat(body);
        var limit = specs.limit(params);
        var prompts =
                conversations.stream().map(each -> prompt(body, each, limit)).toList();
        var info = info("chatcmpl-", request, body, params);
        // A constraint holds from the first token on, so the model cannot decide for a call of its own.
        boolean mayCall = constraint == null || ToolChoice.isForced(body);
        var shape = new SpecBuilder.Shape(mayCall ? tool : null, constraint);
        return new ParsedCall(specs, info, prompts, shape, ToolChoice.isNamed(body));
    }

    /** Reads a completion. */
    public ParsedCall completion(HttpRequest request, JsonBody body) {
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
        var prompts = EncodedPrompt.read(body, "prompt", tokenizer, specs.limit(params));
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

    /** Reads a call of token ids (vLLM {@code GenerateRequest}), whose parameters stand in an object of their own. */
    ParsedCall tokens(HttpRequest request, JsonBody body) {
        specs.requireModel(body.text("model"));
        requireTokens(body);
        body.require("sampling_params");
        var flat = body.object("sampling_params").node().deepCopy();
        for (String key : AROUND_SAMPLING) {
            var value = body.get(key);
            flat.remove(key);
            if (value != null) {
                flat.set(key, value);
            }
        }
        var asked = new JsonBody(flat);
        var params = GenerationParams.read(asked, List.of("max_tokens"), null, asked.integer("logprobs", -1));
        var limit = specs.limit(params);
        var prompts = EncodedPrompt.read(body, "token_ids", tokenizer, limit);
        var shape = new SpecBuilder.Shape(null, StructuredOutputs.read(asked));
        return new ParsedCall(specs, info("generate-tokens-", request, body, params), prompts, shape, false);
    }

    private static void requireTokens(JsonBody body) {
        body.require("token_ids");
        int[] ids = body.tokens("token_ids");
        if (ids.length == 0) {
            throw ApiException.invalid(
                    "List should have at least 1 item after validation, not 0", body.at("token_ids"));
        }
        for (int id : ids) {
            if (id < 0) {
                throw ApiException.invalid(
                        "Value error, token_ids must not contain negative values", body.at("token_ids"));
            }
        }
    }

    /** Reads a call of a pooling model: texts, lists of token ids, or a conversation. */
    public ParsedCall pooled(HttpRequest request, JsonBody body, String prefix) {
        specs.requireModel(body.text("model"));
        var params = poolingParams(body);
        var limit = poolingLimit(params);
        if (body.get("messages") == null) {
            return pooled(request, body, prefix, params, EncodedPrompt.read(body, "input", tokenizer, limit));
        }
        var chat = body.node().deepCopy();
        if (!chat.has("add_generation_prompt")) {
            chat.put("add_generation_prompt", false);
        }
        var conversation = new JsonBody(chat);
        return pooled(request, body, prefix, params, List.of(prompt(conversation, messages(conversation), limit)));
    }

    /**
     * Reads a call of a pooling model for texts.
     *
     * @param texts each a prompt, with a second text behind it that is read together with it, or an empty one
     */
    public ParsedCall pooled(HttpRequest request, JsonBody body, String prefix, List<String[]> texts) {
        specs.requireModel(body.text("model"));
        var params = poolingParams(body);
        var limit = poolingLimit(params);
        var prompts = texts.stream()
                .map(pair -> EncodedPrompt.ofTexts(pair, tokenizer, limit))
                .toList();
        return pooled(request, body, prefix, params, prompts);
    }

    private ParsedCall pooled(
            HttpRequest request, JsonBody body, String prefix, GenerationParams params, List<EncodedPrompt> prompts) {
        return new ParsedCall(specs, info(prefix, request, body, params), prompts, SpecBuilder.Shape.TEXT, false);
    }

    /** Returns the parameters of a call that samples nothing: its time is that of a first token, which is not shown. */
    private static GenerationParams poolingParams(JsonBody body) {
        var asked = Json.object();
        for (String key : POOLING) {
            var value = body.get(key);
            if (value != null) {
                asked.set(key, value);
            }
        }
        return GenerationParams.read(new JsonBody(asked), List.of(), 1, -1);
    }

    private PromptLimit poolingLimit(GenerationParams params) {
        return specs.limit(params);
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
        return new EncodedPrompt(tokens, Placeholder.removeFrom(question), chat.continuesLast());
    }

    private CallInfo info(String prefix, HttpRequest request, JsonBody body, GenerationParams params) {
        @Nullable String asked = body.text("request_id");
        String base = asked == null ? RequestIds.of(request) : asked;
        return new CallInfo(prefix + base, EpochClock.seconds(), specs.modelName(params), params, tokenizer);
    }
}
