/**
 * Blocks, block tables, the prefix-hash table, eviction order.
 *
 * <p>Start with {@link understudy.kvcache.KvMemory}, which answers the two questions a scheduler asks: may this request be
 * admitted, and may these running requests grow. {@link understudy.kvcache.KvCacheManager} follows vLLM V1 ({@code
 * vllm/v1/core}). Everything here is
 * pure and confined to one thread.
 */
@NullMarked
package understudy.kvcache;

import org.jspecify.annotations.NullMarked;
