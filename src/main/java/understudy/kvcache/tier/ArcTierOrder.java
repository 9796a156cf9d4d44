package understudy.kvcache.tier;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntIterator;
import it.unimi.dsi.fastutil.ints.IntLinkedOpenHashSet;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.ints.IntSet;
import it.unimi.dsi.fastutil.longs.LongLinkedOpenHashSet;

/**
 * ARC as vLLM has it: T1 holds what was stored, T2 what was asked for since, B1 and B2 the keys of what they gave up,
 * and a target for the size of T1, which a request for one of these keys moves.
 *
 * <p>Differs from <a href="https://www.usenix.org/conference/fast-03/arc-self-tuning-low-overhead-replacement-cache">
 * Megiddo and Modha, FAST 2003</a>: what is in transfer keeps its place and is passed over, a key that comes back goes
 * to T1 whatever is remembered of it, and a store that finds too little to evict evicts nothing.
 */
final class ArcTierOrder implements TierOrder {
    private final TierBlocks blocks;
    private final IntLinkedOpenHashSet t1 = new IntLinkedOpenHashSet();
    private final IntLinkedOpenHashSet t2 = new IntLinkedOpenHashSet();
    private final LongLinkedOpenHashSet b1 = new LongLinkedOpenHashSet();
    private final LongLinkedOpenHashSet b2 = new LongLinkedOpenHashSet();
    private double target;

    ArcTierOrder(TierBlocks blocks) {
        this.blocks = blocks;
    }

    @Override
    public void insert(int block, long key) {
        t1.add(block);
        b1.remove(key);
        b2.remove(key);
    }

    @Override
    public void touch(int block) {
        if (blocks.isPending(block)) {
            t1.addAndMoveToLast(block);
        } else {
            t1.remove(block);
            t2.addAndMoveToLast(block);
        }
    }

    @Override
    public void touchAbsent(long key) {
        double size1 = b1.size();
        double size2 = b2.size();
        if (b1.contains(key)) {
            target = Math.min(blocks.capacity(), target + Math.max(1, size2 / size1));
            b1.addAndMoveToLast(key);
        } else if (b2.contains(key)) {
            target = Math.max(0, target - Math.max(1, size1 / size2));
            b2.addAndMoveToLast(key);
        }
    }

    @Override
    public void use(int block) {}

    @Override
    public void rest(int block) {}

    @Override
    public IntList victims(int count, IntSet spared) {
        var victims = new IntArrayList(count);
        var first = t1.iterator();
        var second = t2.iterator();
        int size1 = t1.size();
        int victim = 0;
        while (victims.size() < count && victim != TierBlocks.NONE) {
            victim = size1 >= (int) target ? nextIdle(first, spared) : TierBlocks.NONE;
            if (victim == TierBlocks.NONE) {
                victim = nextIdle(second, spared);
            } else {
                size1--;
            }
            if (victim != TierBlocks.NONE) {
                victims.add(victim);
            }
        }
        return victims;
    }

    private int nextIdle(IntIterator list, IntSet spared) {
        while (list.hasNext()) {
            int block = list.nextInt();
            if (blocks.isIdle(block) && !spared.contains(block)) {
                return block;
            }
        }
        return TierBlocks.NONE;
    }

    @Override
    public void evict(int block, long key) {
        var ghosts = t1.remove(block) ? b1 : b2;
        t2.remove(block);
        ghosts.add(key);
        if (ghosts.size() > blocks.capacity()) {
            ghosts.removeFirstLong();
        }
    }

    @Override
    public void remove(int block) {
        t1.remove(block);
        t2.remove(block);
    }

    @Override
    public void clear() {
        t1.clear();
        t2.clear();
        b1.clear();
        b2.clear();
        target = 0;
    }

    @Override
    public TierOrderState state() {
        return new TierOrderState.Arc(new IntArrayList(t1), new IntArrayList(t2), b1.size(), b2.size(), target);
    }

    @Override
    public boolean isSound() {
        return t1.size() + t2.size() == blocks.numUsed()
                && t1.intStream().allMatch(block -> blocks.isUsed(block) && !t2.contains(block))
                && t2.intStream().allMatch(blocks::isUsed);
    }
}
