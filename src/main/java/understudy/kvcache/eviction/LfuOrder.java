package understudy.kvcache.eviction;

import it.unimi.dsi.fastutil.longs.LongArrays;

/**
 * Least frequently used: the block that the fewest requests have used since it got its content; among equals the one
 * that was released longest ago.
 */
final class LfuOrder implements CachedBlockOrder {
    private final BlockUse use;
    private final BlockHeap heap = new BlockHeap(this::compare);
    private long[] releaseOrder = {};
    private long numReleases;

    LfuOrder(BlockUse use) {
        this.use = use;
    }

    @Override
    public void add(int block) {
        releaseOrder = LongArrays.grow(releaseOrder, block + 1);
        releaseOrder[block] = numReleases++;
        heap.add(block);
    }

    @Override
    public void remove(int block) {
        heap.remove(block);
    }

    @Override
    public int evict() {
        return heap.poll();
    }

    @Override
    public int size() {
        return heap.size();
    }

    @Override
    public int[] order() {
        return heap.order();
    }

    private int compare(int one, int other) {
        int byUses = Integer.compare(use.numUses(one), use.numUses(other));
        return byUses != 0 ? byUses : Long.compare(releaseOrder[one], releaseOrder[other]);
    }
}
