/**
 * Keys of a scenario: which there are, how a value is read, and what is said of one that cannot be used.
 *
 * <p>Start with {@link understudy.scenario.keys.Section}.
 */
@NullMarked
package understudy.scenario.keys;

import org.jspecify.annotations.NullMarked;
