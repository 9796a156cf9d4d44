/**
 * A slower memory for KV, such as that of the host: which chunks are there, and which of them go.
 *
 * <p>Start with {@link understudy.kvcache.tier.TierCache}; {@link understudy.kvcache.tier.TierSpec} says how it is set
 * up. Moving the bytes, and the time that takes, is the business of others.
 */
@NullMarked
package understudy.kvcache.tier;

import org.jspecify.annotations.NullMarked;
