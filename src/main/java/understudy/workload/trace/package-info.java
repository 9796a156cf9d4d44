/**
 * Readers of trace files.
 *
 * <p>Start with {@link understudy.workload.trace.TraceWorkload}, a trace as a workload; a format is a {@code
 * TraceReader}. Files are read row by row, and errors name file and line.
 */
@NullMarked
package understudy.workload.trace;

import org.jspecify.annotations.NullMarked;
