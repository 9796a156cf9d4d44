package understudy.kvcache.eviction;

import it.unimi.dsi.fastutil.longs.LongArrays;

/** Most recently used first: the block that was released last. */
final class MruOrder implements CachedBlockOrder {
    private final BlockHeap heap = new BlockHeap(this::compare);
    private long[] released = {};
    private long numReleases;

    @Override
    public void add(int block) {
        released = LongArrays.grow(released, block + 1);
        released[block] = ++numReleases;
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
        return Long.compare(released[other], released[one]);
    }
}
