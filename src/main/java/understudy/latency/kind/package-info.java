/**
 * Kinds of latency models, and the section {@code latency} that chooses one.
 *
 * <p>Start with {@link understudy.latency.kind.LatencySettings}. A new kind is a model of {@code understudy.latency}, and a
 * few lines there that read its section.
 */
@NullMarked
package understudy.latency.kind;

import org.jspecify.annotations.NullMarked;
