/**
 * Faults and operations on a cluster: what can go wrong, and when.
 *
 * <p>Start with {@link understudy.faults.Fault}. {@link understudy.faults.FaultPlan} holds those that are due at fixed
 * times, {@link understudy.faults.FaultSampler} draws those that strike single requests.
 */
@NullMarked
package understudy.faults;

import org.jspecify.annotations.NullMarked;
