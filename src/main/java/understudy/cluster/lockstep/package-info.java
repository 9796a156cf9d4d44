/** Replicas that step together: the ranks of a data-parallel group. */
@NullMarked
package understudy.cluster.lockstep;

import org.jspecify.annotations.NullMarked;
