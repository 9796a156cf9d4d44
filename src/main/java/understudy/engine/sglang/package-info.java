/**
 * SGLang's scheduler.
 *
 * <p>Start with {@link understudy.engine.sglang.SglangScheduler}, which follows {@code managers/scheduler.py}; {@link
 * understudy.engine.sglang.PrefillAdder} admits as {@code managers/schedule_policy.py} does. The memory is {@code
 * kvcache.radix}.
 */
@NullMarked
package understudy.engine.sglang;

import org.jspecify.annotations.NullMarked;
