package understudy.kvcache.eviction;

/** Most recently used first: the block that was released last. */
final class MruOrder implements CachedBlockOrder {
    private final long[] released;
    private final BlockHeap heap;
    private long numReleases;

    MruOrder(int numBlocks) {
        released = new long[numBlocks];
        heap = new BlockHeap(numBlocks, (one, other) -> Long.compare(released[other], released[one]));
    }

    @Override
    public void add(int block) {
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
}
