/**
 * KV memory of models whose layers do not all need the same part of a sequence (vLLM {@code kv_cache_coordinator.py} and
 * {@code single_type_kv_cache_manager.py}).
 *
 * <p>Start with {@link understudy.kvcache.hybrid.HybridKvCache}: block tables by group, over the blocks of one pool. A
 * {@code GroupManager} is a group's part in it, {@code GroupLookup} finds what all of them have cached.
 */
@NullMarked
package understudy.kvcache.hybrid;

import org.jspecify.annotations.NullMarked;
