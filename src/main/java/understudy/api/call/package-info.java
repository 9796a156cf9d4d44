/**
 * Calls from request to answer, and the state that all calls of a server share.
 *
 * <p>Start with {@link understudy.api.call.CallRunner}; {@link understudy.api.call.ClusterLink} is the way to the
 * emulated cluster and back.
 */
@NullMarked
package understudy.api.call;

import org.jspecify.annotations.NullMarked;
