/** What one scenario of the conformance kit leaves behind, seen from the client and from the replicas. */
@NullMarked
package understudy.chaos.evidence;

import org.jspecify.annotations.NullMarked;
