/**
 * vLLM's paths for developers, which its development mode has: sleep, and what a server is made of.
 *
 * <p>Start with {@link understudy.api.dev.SleepRoutes}.
 */
@NullMarked
package understudy.api.dev;

import org.jspecify.annotations.NullMarked;
