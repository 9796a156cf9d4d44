/**
 * OpenAI's and vLLM's endpoints: what requests say, and how answers are written.
 *
 * <p>Start with {@link understudy.api.openai.GenerationRoutes}.
 */
@NullMarked
package understudy.api.openai;

import org.jspecify.annotations.NullMarked;
