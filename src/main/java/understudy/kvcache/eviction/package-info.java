/**
 * Orders of free blocks, and the table of cached ones.
 *
 * <p>Start with {@link understudy.kvcache.eviction.EvictionPolicy}, the list of policies, and {@link
 * understudy.kvcache.eviction.FreeBlockQueue}, what each of them is.
 */
@NullMarked
package understudy.kvcache.eviction;

import org.jspecify.annotations.NullMarked;
