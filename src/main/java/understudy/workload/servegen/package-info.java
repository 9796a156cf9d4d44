/**
 * A production day as ServeGen describes it: clients, their rates over time, and the lengths of their requests.
 *
 * <p>Start with {@link understudy.workload.servegen.ServeGenReader}.
 */
@NullMarked
package understudy.workload.servegen;

import org.jspecify.annotations.NullMarked;
