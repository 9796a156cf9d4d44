/**
 * Replay of block traces: the hits of a prefix cache of a given size and eviction policy, and how far apart in
 * time and in blocks content is used again.
 *
 * <p>Start with {@link understudy.replay.TraceChunk}, the form in which a trace is replayed, then {@link
 * understudy.replay.Replayer}, which replays it, and the policies under {@link understudy.replay.cache.BlockCache}.
 *
 * <p>The policies have the names and the rules of the pool's ({@link understudy.kvcache.eviction.EvictionPolicy}), and
 * one contract test, but classes of their own, as the two see different things. The pool orders only unused blocks:
 * each is taken out of the order when a request hits it, and put back when it is released. So its orders need removal
 * from anywhere, and those that go by arrival are heaps. They know a block of memory, and its content by hash. In a
 * trace nothing is ever in use, and content is known by a dense id: a hit changes a number at most, or moves a block to
 * the end of a list, fifo needs no more than a ring, and a ghost no hash. A class for both would make one of two pay
 * for what only the other one needs. If no request holds blocks while another one runs, both hit the same under {@code
 * lru}, {@code lru-longest-prefix}, {@code lfu} and {@code fifo}. Under {@code s3fifo} and {@code arc} they do not: see
 * there.
 */
@NullMarked
package understudy.replay;

import org.jspecify.annotations.NullMarked;
