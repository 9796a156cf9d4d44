/**
 * KV memory of SGLang: a radix tree of cached prefixes over a pool of pages.
 *
 * <p>Start with {@link understudy.kvcache.radix.RadixMemory}, which has the tables of requests and does what a scheduler
 * decides; a scheduler decides through a {@link understudy.kvcache.radix.RadixAsk}, since its decisions read what is free
 * after each of them. {@link understudy.kvcache.radix.RadixTree} follows {@code mem_cache/radix_cache.py}, {@link
 * understudy.kvcache.radix.PagePool} {@code mem_cache/allocator.py}.
 */
@NullMarked
package understudy.kvcache.radix;

import org.jspecify.annotations.NullMarked;
