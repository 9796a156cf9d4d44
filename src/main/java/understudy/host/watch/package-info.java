/**
 * Watchers of a run: what hears all that happens in a cluster and makes something of it for people.
 *
 * <p>Start with {@link understudy.host.watch.HistoryRecorder}. A watcher is handed to {@link
 * understudy.host.Emulation}; a run without one records nothing.
 */
@NullMarked
package understudy.host.watch;

import org.jspecify.annotations.NullMarked;
