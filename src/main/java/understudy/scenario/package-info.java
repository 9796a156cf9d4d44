/**
 * Scenarios: from a file to a specification.
 *
 * <p>Start with {@link understudy.scenario.Scenario}. A section is read in the room whose subject it sets, such as {@link
 * understudy.latency.kind.LatencySettings}; here are files and their merging, groups of replicas, models and GPUs, and
 * what one section demands of another. Settings and their defaults are in {@code understudy-defaults.conf}; errors name
 * the file, the line or key, the value, and what is allowed.
 */
@NullMarked
package understudy.scenario;

import org.jspecify.annotations.NullMarked;
