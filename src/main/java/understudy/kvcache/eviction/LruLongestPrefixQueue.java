package understudy.kvcache.eviction;

import it.unimi.dsi.fastutil.ints.IntHeapIndirectPriorityQueue;
import java.util.stream.IntStream;

/**
 * The eviction order of vLLM's first prefix caching (PR #2762, {@code vllm/core/evictor.py}): the block whose last use
 * is the oldest; among equals the one with the most tokens before it, so that a prefix is given up from its end; among
 * those the one released first. Blocks that were never used come before all others, as its allocator has it.
 */
final class LruLongestPrefixQueue implements FreeBlockQueue {
    private final BlockUse use;
    private final long[] releaseOrder;
    private final IntHeapIndirectPriorityQueue heap;
    private long numReleases;

    LruLongestPrefixQueue(BlockUse use) {
        this.use = use;
        int numBlocks = use.numBlocks();
        releaseOrder = new long[numBlocks];
        int[] identity = IntStream.range(0, numBlocks).toArray();
        heap = new IntHeapIndirectPriorityQueue(identity, numBlocks, this::compare);
        for (int block = 1; block < numBlocks; block++) {
            add(block);
        }
    }

    @Override
    public int size() {
        return heap.size();
    }

    @Override
    public int poll() {
        return heap.dequeue();
    }

    @Override
    public void remove(int block) {
        heap.remove(block);
    }

    @Override
    public void release(int[] blocks, int count) {
        for (int i = 0; i < count; i++) {
            add(blocks[i]);
        }
    }

    @Override
    public int[] order() {
        return IntStream.range(1, use.numBlocks())
                .filter(heap::contains)
                .boxed()
                .sorted(this::compare)
                .mapToInt(Integer::intValue)
                .toArray();
    }

    private void add(int block) {
        releaseOrder[block] = numReleases++;
        heap.enqueue(block);
    }

    private int compare(int one, int other) {
        int byTime = Long.compare(use.lastStep(one), use.lastStep(other));
        if (byTime != 0) {
            return byTime;
        }
        int byDepth = Integer.compare(use.depth(other), use.depth(one));
        return byDepth != 0 ? byDepth : Long.compare(releaseOrder[one], releaseOrder[other]);
    }
}
