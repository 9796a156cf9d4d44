package understudy.kvcache.tier;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.ints.IntSet;

/** Least recently used: one list of the idle chunks; the end of a transfer and a request move a chunk to its end. */
final class LruTierOrder implements TierOrder {
    private final TierBlocks blocks;
    private final BlockList idle = new BlockList();

    LruTierOrder(TierBlocks blocks) {
        this.blocks = blocks;
    }

    @Override
    public void insert(int block, long key) {}

    @Override
    public void touch(int block) {
        if (blocks.isIdle(block)) {
            idle.addLast(block);
        }
    }

    @Override
    public void touchAbsent(long key) {}

    @Override
    public void use(int block) {
        idle.remove(block);
    }

    @Override
    public void rest(int block) {
        idle.addLast(block);
    }

    @Override
    public IntList victims(int count, IntSet spared) {
        var victims = new IntArrayList(count);
        for (int block = idle.first(); block != TierBlocks.NONE && victims.size() < count; block = idle.next(block)) {
            if (!spared.contains(block)) {
                victims.add(block);
            }
        }
        return victims;
    }

    @Override
    public void evict(int block, long key) {
        idle.remove(block);
    }

    @Override
    public void remove(int block) {
        idle.remove(block);
    }

    @Override
    public void clear() {
        idle.clear();
    }

    @Override
    public TierOrderState state() {
        return new TierOrderState.Lru(idle.toList());
    }

    @Override
    public boolean isSound() {
        return idle.size() == blocks.numIdle() && idle.toList().intStream().allMatch(blocks::isIdle);
    }
}
