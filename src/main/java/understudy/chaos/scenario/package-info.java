/** Scenarios of the conformance kit: what the replicas are, what is sent, what goes wrong, and which laws judge. */
@NullMarked
package understudy.chaos.scenario;

import org.jspecify.annotations.NullMarked;
