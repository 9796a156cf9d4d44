/**
 * Kinds of workloads, and the section {@code workload} that chooses one.
 *
 * <p>Start with {@link understudy.workload.kind.WorkloadSettings}.
 */
@NullMarked
package understudy.workload.kind;

import org.jspecify.annotations.NullMarked;
