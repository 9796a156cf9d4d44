/**
 * Counts, statistics, and the files a run leaves behind.
 *
 * <p>Start with {@link understudy.report.RunReport}. Everything is counted exactly: percentiles come from all values,
 * not from a sketch. Keys are those of {@code vllm bench serve}.
 */
@NullMarked
package understudy.report;

import org.jspecify.annotations.NullMarked;
