/**
 * What a replica decides in one step: requests, queues, token budget, preemption.
 *
 * <p>Start with {@link understudy.engine.StepPlanner}, the scheduler of vLLM V1 as a state machine: it asks the KV cache
 * for memory and is told the answer, so that actors and plain loops drive the same code. Everything here is pure and
 * confined to one thread.
 */
@NullMarked
package understudy.engine;

import org.jspecify.annotations.NullMarked;
