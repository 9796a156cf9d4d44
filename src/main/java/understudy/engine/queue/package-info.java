/**
 * Waiting queues of a scheduler, by policy.
 *
 * <p>Start with {@link understudy.engine.queue.SchedulingPolicy}, the list of policies, and {@link
 * understudy.engine.queue.WaitingQueues}, the two queues of vLLM's scheduler.
 */
@NullMarked
package understudy.engine.queue;

import org.jspecify.annotations.NullMarked;
