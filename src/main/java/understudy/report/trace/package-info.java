/**
 * Traces of a run for Perfetto, in Chrome's JSON format.
 *
 * <p>Start with {@link understudy.report.trace.TraceWriter}, which knows the format alone.
 */
@NullMarked
package understudy.report.trace;

import org.jspecify.annotations.NullMarked;
