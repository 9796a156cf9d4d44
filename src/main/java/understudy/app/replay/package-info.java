/** What {@code understudy replay} replays a trace against, how the trace is fed, and the tables that it prints. */
@NullMarked
package understudy.app.replay;

import org.jspecify.annotations.NullMarked;
