package understudy.kvcache.eviction;

import it.unimi.dsi.fastutil.longs.LongArrays;

/**
 * First in, first out: the block that got its content first, however often it was hit since. A block comes in with its
 * first release, since it cannot go before that; of one request the last block is the first in.
 */
final class FifoOrder implements CachedBlockOrder {
    private static final long NOT_IN = 0;

    private final BlockHeap heap = new BlockHeap(this::compare);
    private long[] arrival = {};
    private long numArrivals;

    @Override
    public void add(int block) {
        arrival = LongArrays.grow(arrival, block + 1);
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

    private int compare(int one, int other) {
        return Long.compare(arrival[one], arrival[other]);
    }
}
