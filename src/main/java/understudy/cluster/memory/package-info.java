/**
 * The memory of a replica, and the KV that it moves. Start with {@link understudy.cluster.KvBlockManager}, its messages.
 */
@NullMarked
package understudy.cluster.memory;

import org.jspecify.annotations.NullMarked;
