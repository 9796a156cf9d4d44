/**
 * Blocks, block tables, the prefix-hash table, eviction order.
 *
 * <p>Start with {@link understudy.kvcache.KvCacheManager}, which answers the two questions a scheduler asks: may this
 * request be admitted, and may these running requests grow. Follows vLLM V1 ({@code vllm/v1/core}). Everything here is
 * pure and confined to one thread.
 */
@NullMarked
package understudy.kvcache;

import org.jspecify.annotations.NullMarked;
