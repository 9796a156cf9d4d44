/**
 * Recorded decisions of real schedulers, replayed and compared step by step.
 *
 * <p>Start with {@link understudy.conform.Conformance}. A recording is replayed by the engine alone ({@code
 * DirectReplay}) or by the actors ({@code ActorReplay}).
 */
@NullMarked
package understudy.conform;

import org.jspecify.annotations.NullMarked;
