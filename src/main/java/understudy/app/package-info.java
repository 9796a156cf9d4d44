/**
 * Command line and wiring: reads a scenario, builds a cluster, runs it, reports.
 *
 * <p>Start with {@link understudy.app.RunCommand}. Settings and their defaults are in {@code understudy-defaults.conf}.
 */
@NullMarked
package understudy.app;

import org.jspecify.annotations.NullMarked;
