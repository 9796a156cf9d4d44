package understudy.kvcache.eviction;

import it.unimi.dsi.fastutil.ints.IntLinkedOpenHashSet;
import java.util.BitSet;

/**
 * ARC: one list of content used once, one of content used more often, both by recency, and a target for the size of the
 * first, which the ghosts of both lists push to where hits were missed.
 *
 * <p>Follows <a href="https://www.usenix.org/conference/fast-03/arc-self-tuning-low-overhead-replacement-cache">Megiddo
 * and Modha, FAST 2003</a>, with these deviations: the lists hold free blocks only, since no other can be evicted; a
 * block enters its list when it is released; and the target moves then, not at the miss.
 */
final class ArcOrder implements CachedBlockOrder {
    private final PrefixTable prefixTable;
    private final BlockUse use;
    private final int capacity;
    private final BitSet frequent = new BitSet();
    private final IntLinkedOpenHashSet once = new IntLinkedOpenHashSet();
    private final IntLinkedOpenHashSet often = new IntLinkedOpenHashSet();
    private final Ghosts ghostsOfOnce = new Ghosts();
    private final Ghosts ghostsOfOften = new Ghosts();
    private double targetOfOnce;

    ArcOrder(PrefixTable prefixTable, BlockUse use) {
        this.prefixTable = prefixTable;
        this.use = use;
        capacity = use.numBlocks() - 1;
    }

    @Override
    public void add(int block) {
        if (!frequent.get(block)) {
            frequent.set(block, use.numUses(block) > 1 || wasMissed(block));
        }
        (frequent.get(block) ? often : once).add(block);
    }

    @Override
    public void remove(int block) {
        (frequent.get(block) ? often : once).remove(block);
    }

    @Override
    public int evict() {
        boolean fromOnce = often.isEmpty() || (!once.isEmpty() && once.size() > targetOfOnce);
        int block = (fromOnce ? once : often).removeFirstInt();
        frequent.clear(block);
        if (fromOnce) {
            ghostsOfOnce.add(prefixTable, block, capacity - once.size());
        } else {
            ghostsOfOften.add(prefixTable, block, 2 * capacity - size() - ghostsOfOnce.size());
        }
        return block;
    }

    @Override
    public int size() {
        return once.size() + often.size();
    }

    @Override
    public int[] order() {
        var order = once.toArray(new int[size()]);
        int at = once.size();
        for (int block : often) {
            order[at++] = block;
        }
        return order;
    }

    /** Moves the target towards the list whose ghost has come back, by the ratio of the ghosts. */
    private boolean wasMissed(int block) {
        double numOnce = ghostsOfOnce.size();
        double numOften = ghostsOfOften.size();
        if (ghostsOfOnce.remove(prefixTable, block)) {
            targetOfOnce = Math.min(capacity, targetOfOnce + Math.max(1, numOften / numOnce));
            return true;
        }
        if (ghostsOfOften.remove(prefixTable, block)) {
            targetOfOnce = Math.max(0, targetOfOnce - Math.max(1, numOnce / numOften));
            return true;
        }
        return false;
    }
}
