/**
 * Exact statistics of many durations.
 *
 * <p>Start with {@link understudy.report.latency.LatencyStats}.
 */
@NullMarked
package understudy.report.latency;

import org.jspecify.annotations.NullMarked;
