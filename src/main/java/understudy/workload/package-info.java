/**
 * Load of a cluster: generators, sessions, trace readers, random streams.
 *
 * <p>Start with {@link understudy.workload.Workload}. Everything here is pure: randomness comes from the named streams
 * of {@link understudy.workload.RandomStreams}, and time is an argument.
 */
@NullMarked
package understudy.workload;

import org.jspecify.annotations.NullMarked;
