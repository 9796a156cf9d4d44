/**
 * What others embed in their tests.
 *
 * <p>Start with {@link understudy.testkit.VirtualTimeTestKit}, which drives actors through virtual time by hand.
 */
@NullMarked
package understudy.testkit;

import org.jspecify.annotations.NullMarked;
