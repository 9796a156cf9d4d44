package understudy.kvcache.tier;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntLinkedOpenHashSet;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.ints.IntSet;

/** Least recently used: one list of the idle chunks; the end of a transfer and a request move a chunk to its end. */
final class LruTierOrder implements TierOrder {
    private final TierBlocks blocks;
    private final IntLinkedOpenHashSet idle = new IntLinkedOpenHashSet();

    LruTierOrder(TierBlocks blocks) {
        this.blocks = blocks;
    }

    @Override
    public void insert(int block, long key) {}

    @Override
    public void touch(int block) {
        if (blocks.isIdle(block)) {
            idle.addAndMoveToLast(block);
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
        idle.add(block);
    }

    @Override
    public IntList victims(int count, IntSet spared) {
        var victims = new IntArrayList(count);
        for (var block = idle.iterator(); block.hasNext() && victims.size() < count; ) {
            int candidate = block.nextInt();
            if (!spared.contains(candidate)) {
                victims.add(candidate);
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
        return new TierOrderState.Lru(new IntArrayList(idle));
    }

    @Override
    public boolean isSound() {
        return idle.size() == blocks.numIdle() && idle.intStream().allMatch(blocks::isIdle);
    }
}
