/**
 * Blocks, block tables, the prefix-hash table, eviction policies, session cache.
 *
 * <p>Start with {@link understudy.kvcache.KvMemory}, which answers the two questions a scheduler asks: may this request be
 * admitted, and may these running requests grow. {@link understudy.kvcache.KvCacheManager} finds prefixes by content and
 * follows vLLM V1 ({@code vllm/v1/core}); {@code SessionKvCache} finds them by session, {@code PromptKvCache} whole prompts.
 * Everything here is
 * pure and confined to one thread.
 */
@NullMarked
package understudy.kvcache;

import org.jspecify.annotations.NullMarked;
