package understudy.kvcache.eviction;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.LongArrays;

/**
 * The eviction order of vLLM's first prefix caching (PR #2762, {@code vllm/core/evictor.py}): the block whose last use
 * is the oldest; among equals the one with the most tokens before it, so that a prefix is given up from its end; among
 * those the one released first. Blocks that were never used come before all others, as its allocator has it.
 */
final class LruLongestPrefixQueue implements FreeBlockQueue {
    private final BlockUse use;
    private final int numBlocks;
    private final BlockHeap heap = new BlockHeap(this::compare);

    /** By block; those that were never given out are in the order of their numbers, before all others. */
    private long[] releaseOrder = {};

    private long numReleases;

    /** The first block that was never given out, which stands in the heap for all of them, or {@link #numBlocks}. */
    private int firstNew = 1;

    LruLongestPrefixQueue(BlockUse use) {
        this.use = use;
        numBlocks = use.numBlocks();
        numReleases = numBlocks;
        addFirstNew();
    }

    @Override
    public int size() {
        return heap.size() + Math.max(0, numBlocks - firstNew - 1);
    }

    @Override
    public int poll() {
        int block = heap.poll();
        if (block == firstNew) {
            firstNew++;
            addFirstNew();
        }
        return block;
    }

    private void addFirstNew() {
        if (firstNew < numBlocks) {
            add(firstNew, firstNew);
        }
    }

    @Override
    public void remove(int block) {
        heap.remove(block);
    }

    @Override
    public void release(int[] blocks, int count) {
        for (int i = 0; i < count; i++) {
            add(blocks[i], numReleases++);
        }
    }

    @Override
    public int[] order() {
        var order = new IntArrayList(size());
        for (int block : heap.order()) {
            order.add(block);
            for (int other = block + 1; block == firstNew && other < numBlocks; other++) {
                order.add(other);
            }
        }
        return order.toIntArray();
    }

    private void add(int block, long order) {
        releaseOrder = LongArrays.grow(releaseOrder, block + 1);
        releaseOrder[block] = order;
        heap.add(block);
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
