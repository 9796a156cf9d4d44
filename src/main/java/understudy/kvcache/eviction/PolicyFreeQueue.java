package understudy.kvcache.eviction;

import it.unimi.dsi.fastutil.ints.IntArrayList;

/** Gives out blocks that hold nothing first, last in first out, and then cached ones as an eviction policy says. */
final class PolicyFreeQueue implements FreeBlockQueue {
    private final PrefixTable prefixTable;
    private final CachedBlockOrder cached;
    private final IntArrayList empty = new IntArrayList();

    PolicyFreeQueue(PrefixTable prefixTable, CachedBlockOrder cached) {
        this.prefixTable = prefixTable;
        this.cached = cached;
        for (int block = prefixTable.numBlocks() - 1; block > PrefixTable.NULL_BLOCK; block--) {
            empty.push(block);
        }
    }

    @Override
    public int size() {
        return empty.size() + cached.size();
    }

    @Override
    public int poll() {
        return empty.isEmpty() ? cached.evict() : empty.popInt();
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
        for (int i = 0; i < empty.size(); i++) {
            order[i] = empty.getInt(empty.size() - 1 - i);
        }
        System.arraycopy(cached.order(), 0, order, empty.size(), cached.size());
        return order;
    }
}
