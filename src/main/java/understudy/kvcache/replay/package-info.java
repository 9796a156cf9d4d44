/**
 * Replay of block traces: what a prefix cache of a given size and eviction policy would have hit, and how far apart in
 * time and in blocks content is used again.
 *
 * <p>Start with {@link understudy.kvcache.replay.TraceChunk}, the form in which a trace is replayed, then {@link
 * understudy.kvcache.replay.Replayer}, which replays it, and the policies under {@code BlockCache}.
 *
 * <p>The policies have the names and the rules of the pool's ({@link understudy.kvcache.EvictionPolicy}) but classes of their
 * own, as the two see different things. The pool orders the blocks that nobody uses at the moment, finds content by hash, and
 * learns of a use when it ends; a trace says when content is asked for and nothing more, and goes through orders of magnitude
 * more blocks. Where nothing is held from one request to the next, both hit the same under {@code lru}, {@code
 * lru-longest-prefix}, {@code lfu} and {@code fifo}. Under {@code s3fifo} and {@code arc} they do not: see there.
 */
@NullMarked
package understudy.kvcache.replay;

import org.jspecify.annotations.NullMarked;
