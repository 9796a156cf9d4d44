/**
 * The made-up model: its prompts, tokens and answers.
 *
 * <p>Start with {@link understudy.api.model.Answers} and {@link understudy.api.model.Tokenizer}.
 */
@NullMarked
package understudy.api.model;

import org.jspecify.annotations.NullMarked;
