/**
 * Waiting queues of a scheduler, by policy.
 *
 * <p>Start with {@link understudy.engine.vllm.queue.SchedulingPolicy}, the list of policies, and {@link
 * understudy.engine.vllm.queue.WaitingQueues}, the two queues of vLLM's scheduler.
 */
@NullMarked
package understudy.engine.vllm.queue;

import org.jspecify.annotations.NullMarked;
