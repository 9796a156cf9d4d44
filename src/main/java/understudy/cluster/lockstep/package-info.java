/** Devices of several parts: the ranks of a data-parallel group, which step together, and the stages of a pipeline. */
@NullMarked
package understudy.cluster.lockstep;

import org.jspecify.annotations.NullMarked;
