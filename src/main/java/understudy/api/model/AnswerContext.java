package understudy.api.model;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import understudy.jsonsample.Constraint;
import understudy.jsonsample.SchemaSample;

/**
 * Input of the model for an answer.
 *
 * @param question gives the text that is answered: the last message, or the prompt
 * @param seed equal seeds and questions give equal answers
 * @param continuesText whether the answer stands right behind other text
 * @param ignoresEos whether the answer goes on until the limit of tokens
 * @param tool the function that must be called, or null for none
 * @param arguments of that function
 * @param constraint form that the answer must have, or null for text
 * @param filter keeps tokens from being sampled, or null for none; a call or a constraint says itself what comes
 */
public record AnswerContext(
        Supplier<String> question,
        long seed,
        boolean continuesText,
        boolean ignoresEos,
        @Nullable ToolDefinition tool,
        @Nullable SchemaSample arguments,
        @Nullable Constraint constraint,
        @Nullable TokenFilter filter) {}
