package understudy.kvcache.tier;

import it.unimi.dsi.fastutil.ints.IntArrayList;
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
    private final BlockList t1 = new BlockList();
    private final BlockList t2 = new BlockList();
    private final LongLinkedOpenHashSet b1 = new LongLinkedOpenHashSet();
    private final LongLinkedOpenHashSet b2 = new LongLinkedOpenHashSet();
    private double target;

    ArcTierOrder(TierBlocks blocks) {
        this.blocks = blocks;
    }

    @Override
    public void insert(int block, long key) {
        t1.addLast(block);
        b1.remove(key);
        b2.remove(key);
    }

    @Override
    public void touch(int block) {
        if (blocks.isPending(block)) {
            t1.addLast(block);
        } else {
            t1.remove(block);
            t2.addLast(block);
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
        int first = nextIdle(t1, t1.first(), spared);
        int second = nextIdle(t2, t2.first(), spared);
        int size1 = t1.size();
        while (victims.size() < count) {
            if (first != TierBlocks.NONE && size1 >= (int) target) {
                victims.add(first);
                first = nextIdle(t1, t1.next(first), spared);
                size1--;
            } else if (second != TierBlocks.NONE) {
                victims.add(second);
                second = nextIdle(t2, t2.next(second), spared);
            } else {
                return victims;
            }
        }
        return victims;
    }

    private int nextIdle(BlockList list, int from, IntSet spared) {
        int block = from;
        while (block != TierBlocks.NONE && (!blocks.isIdle(block) || spared.contains(block))) {
            block = list.next(block);
        }
        return block;
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
        return new TierOrderState.Arc(t1.toList(), t2.toList(), b1.size(), b2.size(), target);
    }

    @Override
    public boolean isSound() {
        return t1.size() + t2.size() == blocks.numUsed()
                && t1.toList().intStream().allMatch(block -> blocks.isUsed(block) && !t2.contains(block))
                && t2.toList().intStream().allMatch(blocks::isUsed);
    }
}
