package understudy.api.model;

import java.util.List;
import org.apache.commons.rng.UniformRandomProvider;
import understudy.api.http.Json;
import understudy.prompt.TokenIds;
import understudy.workload.RandomStreams;

/**
 * Source of the model's answers: calls of tools and JSON where they are asked for, else answers by the server's mode.
 */
public final class Answers {
    /** Apart from the seeds of answers. */
    private static final long OTHER_TOKENS = 0x9E3779B97F4A7C15L;

    private final Tokenizer tokenizer;
    private final Prose prose;
    private final ModelSettings model;

    public Answers(Tokenizer tokenizer, ModelSettings model) {
        this.tokenizer = tokenizer;
        this.model = model;
        prose = new Prose(tokenizer);
    }

    public Answer answer(AnswerContext context) {
        var streams = new RandomStreams(context.seed());
        var tool = context.tool();
        var arguments = context.arguments();
        if (tool != null && arguments != null) {
            var drawn = arguments.sample(streams.stream("tool-arguments"));
            var call = new ToolCall(tool.name(), Json.write(drawn));
            return spoken(ToolCall.text(List.of(call)), List.of(call), context);
        }
        var constraint = context.constraint();
        if (constraint != null) {
            return spoken(constraint.text(streams.stream("json-answer")), List.of(), context);
        }
        var answer = said(context, streams);
        var filter = context.filter();
        var others = prose.tokens(context.seed() ^ OTHER_TOKENS, true);
        return filter == null ? answer : filter.filtered(answer, others, tokenizer.endToken());
    }

    private Answer said(AnswerContext context, RandomStreams streams) {
        return switch (model.answers()) {
            case RANDOM -> random(context, streams.stream("answer-length"));
            case ECHO -> spoken(context.question().get(), List.of(), context);
            case REPLAY -> spoken(model.canned().answerTo(context.question().get()), List.of(), context);
        };
    }

    private Answer random(AnswerContext context, UniformRandomProvider random) {
        var tokens = prose.tokens(context.seed(), context.continuesText());
        return context.ignoresEos()
                ? Answer.endless(tokens)
                : Answer.ending(tokens, model.lengths().sample(random), tokenizer.endToken(), List.of());
    }

    /** Says a text; one that must not end is followed by prose. */
    private Answer spoken(String text, List<ToolCall> toolCalls, AnswerContext context) {
        // No answer is longer than the context, so the part that is cut off is never sent.
        var tokens = new TokenIds(tokenizer.encode(text, model.maxModelLen()));
        if (!context.ignoresEos()) {
            return Answer.ending(tokens, tokens.length(), tokenizer.endToken(), toolCalls);
        }
        var more = prose.tokens(context.seed(), true);
        return Answer.endless(i -> i < tokens.length() ? tokens.tokenAt(i) : more.tokenAt(i - tokens.length()));
    }
}
