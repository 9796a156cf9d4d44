/**
 * Watchers of a run: they receive the events of a cluster, and turn them into histories, explanations and traces.
 *
 * <p>Start with {@link understudy.host.watch.HistoryRecorder}. A watcher is handed to {@link
 * understudy.host.Emulation}; a run without one records nothing.
 */
@NullMarked
package understudy.host.watch;

import org.jspecify.annotations.NullMarked;
