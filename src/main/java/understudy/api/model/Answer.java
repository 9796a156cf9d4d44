package understudy.api.model;

import java.util.List;
import understudy.engine.OutputPlan;
import understudy.prompt.TokenSource;

/**
 * Answer that the model is going to give.
 *
 * @param tokens its tokens; the last one of {@code length} is the end-of-sequence token
 * @param length tokens up to and including the end-of-sequence token, or {@link OutputPlan#ENDLESS}
 * @param toolCalls the calls that the text stands for; if there are any, the text is nothing else
 */
public record Answer(TokenSource tokens, int length, List<ToolCall> toolCalls) {

    /** Returns an answer that goes on until the limit of tokens. */
    static Answer endless(TokenSource tokens) {
        return new Answer(tokens, OutputPlan.ENDLESS, List.of());
    }

    /** Returns an answer with an end-of-sequence token behind its first {@code numTokens} tokens. */
    static Answer ending(TokenSource tokens, int numTokens, int endOfSequence, List<ToolCall> toolCalls) {
        TokenSource ended = index -> index < numTokens ? tokens.tokenAt(index) : endOfSequence;
        return new Answer(ended, numTokens + 1, toolCalls);
    }
}
