/** What a scenario of an autoscaler leaves behind, seen from its metrics and its API. */
@NullMarked
package understudy.chaos.autoscaler.evidence;

import org.jspecify.annotations.NullMarked;
