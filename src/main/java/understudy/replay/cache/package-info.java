/**
 * Prefix caches for the replay of block traces, one class per eviction policy.
 *
 * <p>Start with {@link understudy.replay.cache.BlockCache}. Each cache keeps its state in arrays by dense block id.
 */
@NullMarked
package understudy.replay.cache;

import org.jspecify.annotations.NullMarked;
