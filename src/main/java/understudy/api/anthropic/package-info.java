/**
 * Anthropic's Messages API as vLLM has it: requests become chat completions, answers are written as messages.
 *
 * <p>Start with {@link understudy.api.anthropic.MessagesRoutes}.
 */
@NullMarked
package understudy.api.anthropic;

import org.jspecify.annotations.NullMarked;
