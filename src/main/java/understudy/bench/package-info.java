/**
 * The load client: sends a workload to any OpenAI-compatible server when it is due, and records the answers.
 *
 * <p>Start with {@link understudy.bench.Bench}.
 */
@NullMarked
package understudy.bench;

import org.jspecify.annotations.NullMarked;
