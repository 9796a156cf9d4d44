/**
 * Scenarios: from a file to a specification.
 *
 * <p>Start with {@link understudy.scenario.Scenario}. Settings and their defaults are in {@code
 * understudy-defaults.conf}; errors name the file, the line or key, the value, and what is allowed.
 */
@NullMarked
package understudy.scenario;

import org.jspecify.annotations.NullMarked;
