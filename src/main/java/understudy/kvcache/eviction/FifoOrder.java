package understudy.kvcache.eviction;

/**
 * First in, first out: the block that got its content first, however often it was hit since. A block comes in with its
 * first release, since it cannot go before that; of one request the last block is the first in.
 */
final class FifoOrder implements CachedBlockOrder {
    private static final long NOT_IN = 0;

    private final long[] arrival;
    private final BlockHeap heap;
    private long numArrivals;

    FifoOrder(int numBlocks) {
        arrival = new long[numBlocks];
        heap = new BlockHeap(numBlocks, (one, other) -> Long.compare(arrival[one], arrival[other]));
    }

    @Override
    public void add(int block) {
        if (arrival[block] == NOT_IN) {
            arrival[block] = ++numArrivals;
        }
        heap.add(block);
    }

    @Override
    public void remove(int block) {
        heap.remove(block);
    }

    @Override
    public int evict() {
        int block = heap.poll();
        arrival[block] = NOT_IN;
        return block;
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
