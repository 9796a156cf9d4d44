/**
 * Decisions of a replica in one step: requests, queues, token budget, preemption.
 *
 * <p>Start with {@link understudy.engine.Planner}, an engine as a state machine: it asks the KV cache for memory and is
 * told the answer, so that actors and plain loops drive the same code. {@link understudy.engine.StepPlanner} is the
 * scheduler of vLLM V1. Everything here is pure and confined to one thread.
 */
@NullMarked
package understudy.engine;

import org.jspecify.annotations.NullMarked;
