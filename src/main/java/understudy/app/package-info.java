/**
 * Command line: parses, calls, prints. Nothing else depends on it.
 *
 * <p>Start with {@link understudy.app.RunCommand}.
 */
@NullMarked
package understudy.app;

import org.jspecify.annotations.NullMarked;
