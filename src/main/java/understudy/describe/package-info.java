/**
 * Descriptions of traces: figures of a file before it is run.
 *
 * <p>Start with {@link understudy.describe.TraceDescriber}, which is told every request, and keeps what grows with
 * different blocks, sessions and lengths, and not with requests.
 */
@NullMarked
package understudy.describe;

import org.jspecify.annotations.NullMarked;
