/**
 * KV memories that find prefixes by content.
 *
 * <p>Start with {@link understudy.kvcache.content.KvCacheManager}, which follows vLLM V1 ({@code vllm/v1/core}); {@link
 * understudy.kvcache.content.PromptKvCache} finds whole prompts. Both take blocks from one {@code BlockPool}.
 */
@NullMarked
package understudy.kvcache.content;

import org.jspecify.annotations.NullMarked;
