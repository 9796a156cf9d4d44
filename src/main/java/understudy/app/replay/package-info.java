/**
 * Command {@code understudy replay}: the caches that it replays a trace against, the feeding of the trace, its tables.
 */
@NullMarked
package understudy.app.replay;

import org.jspecify.annotations.NullMarked;
