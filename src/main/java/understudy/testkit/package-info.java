/**
 * Test kit for programs that use a cluster in their tests.
 *
 * <p>Start with {@link understudy.testkit.EmulatedCluster}, a whole cluster, with or without HTTP, or with {@link
 * understudy.testkit.VirtualTimeTestKit}, which drives single actors through virtual time by hand.
 */
@NullMarked
package understudy.testkit;

import org.jspecify.annotations.NullMarked;
