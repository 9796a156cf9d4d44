package understudy.kvcache.tier;

import it.unimi.dsi.fastutil.ints.IntList;

/** State of a tier's eviction policy, in tier blocks, for recordings and tests. */
public sealed interface TierOrderState {

    /**
     * State of {@link TierPolicy#LRU}.
     *
     * @param evictable blocks that no transfer uses, the next to go first
     */
    record Lru(IntList evictable) implements TierOrderState {}

    /**
     * State of {@link TierPolicy#ARC}.
     *
     * @param t1 blocks stored and not asked for since, oldest first, in use or not
     * @param t2 blocks asked for since, oldest first, in use or not
     * @param numB1 keys remembered that were evicted from {@code t1}
     * @param numB2 keys remembered that were evicted from {@code t2}
     * @param target size from which on {@code t1} gives up a block, rather than {@code t2}
     */
    record Arc(IntList t1, IntList t2, int numB1, int numB2, double target) implements TierOrderState {}
}
