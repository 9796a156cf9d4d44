/**
 * Runs a cluster: one emulation with its clock, its actors and its failures.
 *
 * <p>Start with {@link understudy.host.ClusterHost}. Command line, server, test kit and conformance runs all go through
 * it.
 */
@NullMarked
package understudy.host;

import org.jspecify.annotations.NullMarked;
