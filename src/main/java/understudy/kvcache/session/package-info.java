/**
 * The session cache: a KV memory that finds prefixes by conversation, beside a global prefix store.
 *
 * <p>Start with {@link understudy.kvcache.session.SessionKvCache}.
 */
@NullMarked
package understudy.kvcache.session;

import org.jspecify.annotations.NullMarked;
