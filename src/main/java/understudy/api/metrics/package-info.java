/**
 * Metrics of the emulated engines under vLLM's names.
 *
 * <p>Start with {@link understudy.api.metrics.EngineMetrics}, a subscriber of the cluster's events.
 */
@NullMarked
package understudy.api.metrics;

import org.jspecify.annotations.NullMarked;
