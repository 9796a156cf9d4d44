/**
 * What the replay of a block trace leaves behind: JSON, CSV, and a page with charts.
 *
 * <p>Start with {@link understudy.report.replay.ReplayReport}.
 */
@NullMarked
package understudy.report.replay;

import org.jspecify.annotations.NullMarked;
