/** The section {@code workload} of a scenario. Start with {@link understudy.scenario.workload.WorkloadSettings}. */
@NullMarked
package understudy.scenario.workload;

import org.jspecify.annotations.NullMarked;
