/**
 * Decides whether a request is routed now, waits in the router, or is turned away.
 *
 * <p>Start with {@link understudy.routing.admission.AdmissionControl}.
 */
@NullMarked
package understudy.routing.admission;

import org.jspecify.annotations.NullMarked;
