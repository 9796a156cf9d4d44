/**
 * Replay of block traces: what a prefix cache of a given size and eviction policy would have hit, and how far apart in
 * time and in blocks content is used again.
 *
 * <p>Start with {@link understudy.kvcache.replay.TraceChunk}, the form in which a trace is replayed.
 */
@NullMarked
package understudy.kvcache.replay;

import org.jspecify.annotations.NullMarked;
