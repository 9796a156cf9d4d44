/**
 * Contract of a replica's KV memory: questions, answers, settings, counts.
 *
 * <p>Start with {@link understudy.kvcache.KvCache}, which answers the two questions a scheduler asks: may this request
 * be admitted, and may these running requests grow. Implementations: {@code kvcache.content} finds prefixes by content,
 * as vLLM does; {@code kvcache.session} finds them by session. {@code kvcache.eviction} orders free blocks. Everything
 * here is pure and confined to one thread.
 */
@NullMarked
package understudy.kvcache;

import org.jspecify.annotations.NullMarked;
