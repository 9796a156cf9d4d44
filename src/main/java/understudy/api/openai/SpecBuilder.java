package understudy.api.openai;

import it.unimi.dsi.fastutil.HashCommon;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import understudy.api.call.ApiSettings;
import understudy.api.call.ClusterLink;
import understudy.api.call.Generation;
import understudy.api.call.GenerationParams;
import understudy.api.call.GenerationSpecBuilder;
import understudy.api.call.KvTransferFields;
import understudy.api.call.LoraAdapters;
import understudy.api.call.SideChannelSettings;
import understudy.api.http.ApiException;
import understudy.api.model.AnswerContext;
import understudy.api.model.Answers;
import understudy.api.model.Tokenizer;
import understudy.api.model.ToolDefinition;
import understudy.jsonsample.Constraint;
import understudy.prompt.SessionTurn;
import understudy.prompt.TokenSequence;
import understudy.routing.Role;

/**
 * Makes requests to the engine out of calls, after the checks that vLLM makes at its front end.
 *
 * @param replica the one that is to serve, or empty for any
 * @param role of all replicas that may serve
 * @param lengthWords how prompts that are too long are refused
 */
public record SpecBuilder(
        ApiSettings settings,
        ClusterLink link,
        LoraAdapters loras,
        Tokenizer tokenizer,
        Answers answers,
        OptionalInt replica,
        Role role,
        PromptLimit.Words lengthWords) {
    /** Most answers of one call: a small body could ask for millions, each a request to the engine. */
    private static final int MAX_CHOICES = 16384;

    /** Required form of an answer, if it is not just text. */
    public record Shape(
            @Nullable ToolDefinition tool, @Nullable Constraint constraint) {
        static final Shape TEXT = new Shape(null, null);
    }

    /** Returns the same, with another refusal of prompts that are too long. */
    public SpecBuilder refusing(PromptLimit.Words words) {
        return new SpecBuilder(settings, link, loras, tokenizer, answers, replica, role, words);
    }

    /** Returns the length limit of a call's prompts. */
    PromptLimit limit(GenerationParams params) {
        return PromptLimit.of(settings.model(), params, lengthWords);
    }

    /** Refuses models and adapters that are not served. */
    void requireModel(@Nullable String model) {
        boolean isServed =
                model == null || model.isEmpty() || settings.models().contains(model) || loras.isKnown(model, replica);
        if (!isServed) {
            throw new ApiException(404, "NotFoundError", "The model `" + model + "` does not exist.", "model");
        }
    }

    /** Returns the name that answers carry: that of the adapter, or of the model that is served. */
    String modelName(GenerationParams params) {
        String adapter = loraName(params);
        return adapter.isEmpty() ? settings.servedModel() : adapter;
    }

    private String loraName(GenerationParams params) {
        String model = params.model();
        return model != null && !settings.models().contains(model) && loras.isKnown(model, replica) ? model : "";
    }

    /**
     * Returns the requests of a call: for each prompt, as many as answers are wanted.
     *
     * @param name of the call, on which those of the requests are based
     * @param turn the call's place in a session
     */
    public List<Generation.Spec> build(
            String name, List<EncodedPrompt> prompts, GenerationParams params, Shape shape, SessionTurn turn) {
        if (params.priority() != 0 && !settings.model().hasPriorities()) {
            throw ApiException.badRequest(
                    "Got priority " + params.priority() + " but Priority scheduling is not enabled.", "priority");
        }
        params.requireFewLogprobs(tokenizer.size());
        var filter = params.tokens().filter(tokenizer);
        long numChoices = (long) prompts.size() * params.n();
        if (numChoices > MAX_CHOICES) {
            throw ApiException.badRequest(
                    "prompts times n must be at most " + MAX_CHOICES + ", got " + numChoices + ".", "n");
        }
        var tool = shape.tool();
        var arguments = tool == null ? null : tool.arguments();
        var limit = limit(params);
        var channel = settings.sideChannel().orElse(null);
        boolean hasRooms = channel != null && channel.rooms() != SideChannelSettings.Rooms.NONE;
        int usualPort = channel == null ? 0 : channel.port();
        var ofFirst = channel == null || hasRooms ? null : KvTransferFields.read(params.kvTransferParams());
        var specs = new ArrayList<Generation.Spec>();
        for (var whole : prompts) {
            var prompt = whole.truncated(params.truncatePrompt());
            int maxTokens = limit.requireRoom(prompt.tokens().length());
            for (int i = 0; i < params.n(); i++) {
                int choice = specs.size();
                // Where a port has both roles, the router brings the two halves of a request together.
                var room = hasRooms && role != Role.BOTH
                        ? params.bootstrap()
                                .of(
                                        role,
                                        choice / params.n(),
                                        choice,
                                        prompt.tokens().length(),
                                        usualPort)
                        : null;
                boolean isPrefill = room != null && room.doRemoteDecode();
                var context = new AnswerContext(
                        prompt.question(),
                        seed(params, prompt.tokens(), i),
                        prompt.continuesText(),
                        params.ignoresEos(),
                        tool,
                        arguments,
                        shape.constraint(),
                        filter);
                specs.add(GenerationSpecBuilder.builder()
                        .choice(choice)
                        .name(name + "-" + choice)
                        .prompt(prompt.tokens())
                        .loraName(loraName(params))
                        .turn(turn)
                        .params(params)
                        // As SGLang's engine has it, which computes the prompt for another one.
                        .maxTokens(isPrefill ? 1 : maxTokens)
                        .maxModelLen(settings.model().maxModelLen())
                        .answer(answers.answer(context))
                        .tokenizer(tokenizer)
                        .replica(replica)
                        .kvTransfer(i == 0 && !hasRooms ? ofFirst : room)
                        .build());
            }
        }
        return specs;
    }

    /** Calls with a seed of their own, and greedy ones, are answered alike whenever they come. */
    private long seed(GenerationParams params, TokenSequence prompt, int choice) {
        boolean isRepeatable = params.isGreedy() || params.seed() != null;
        long own = params.seed() == null ? 0 : params.seed();
        long call = isRepeatable ? hash(prompt) * 31 + own : link.nextId();
        return HashCommon.murmurHash3(HashCommon.murmurHash3(settings.model().seed() + choice) ^ call);
    }

    private static long hash(TokenSequence prompt) {
        long hash = 1;
        for (int i = 0; i < prompt.length(); i++) {
            hash = 31 * hash + prompt.tokenAt(i);
        }
        return hash;
    }
}
