/**
 * Indexes of cached blocks: which replicas hold which leading blocks of a prompt.
 *
 * <p>{@link understudy.routing.index.PrefixIndex} is fed by KV events.
 */
@NullMarked
package understudy.routing.index;

import org.jspecify.annotations.NullMarked;
