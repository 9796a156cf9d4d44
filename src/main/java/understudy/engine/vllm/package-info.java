/**
 * Scheduler of vLLM V1, with its queues, its features, and its settings.
 *
 * <p>Start with {@link understudy.engine.vllm.StepPlanner}, the scheduler as a state machine, and {@link
 * understudy.engine.vllm.VllmFamily}, which reads its settings.
 */
@NullMarked
package understudy.engine.vllm;

import org.jspecify.annotations.NullMarked;
