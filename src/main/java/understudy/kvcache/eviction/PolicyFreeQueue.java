package understudy.kvcache.eviction;

import it.unimi.dsi.fastutil.ints.IntArrayList;

/**
 * Gives out blocks that hold nothing first, last in first out, and then cached ones as an eviction policy says. Those that
 * were never given out are below the others, by number.
 */
final class PolicyFreeQueue implements FreeBlockQueue {
    private final PrefixTable prefixTable;
    private final CachedBlockOrder cached;
    private final IntArrayList empty = new IntArrayList();
    private final int numBlocks;

    /** The first block that was never given out. */
    private int firstNew = 1;

    PolicyFreeQueue(PrefixTable prefixTable, CachedBlockOrder cached) {
        this.prefixTable = prefixTable;
        this.cached = cached;
        numBlocks = prefixTable.numBlocks();
    }

    @Override
    public int size() {
        return empty.size() + numBlocks - firstNew + cached.size();
    }

    @Override
    public int poll() {
        if (!empty.isEmpty()) {
            return empty.popInt();
        }
        return firstNew < numBlocks ? firstNew++ : cached.evict();
    }

    @Override
    public void remove(int block) {
        cached.remove(block);
    }

    @Override
    public void release(int[] blocks, int count) {
        for (int i = 0; i < count; i++) {
            if (prefixTable.isHashed(blocks[i])) {
                cached.add(blocks[i]);
            } else {
                empty.push(blocks[i]);
            }
        }
    }

    @Override
    public int[] order() {
        var order = new int[size()];
        int count = 0;
        for (int i = empty.size() - 1; i >= 0; i--) {
            order[count++] = empty.getInt(i);
        }
        for (int block = firstNew; block < numBlocks; block++) {
            order[count++] = block;
        }
        System.arraycopy(cached.order(), 0, order, count, cached.size());
        return order;
    }
}
