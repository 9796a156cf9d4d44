package understudy.kvcache.tier;

import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.ints.IntSet;

/** Eviction policy of a tier: orders its chunks, of which only those that no transfer uses can go. */
interface TierOrder {

    /** Adds a chunk that is going to be written. */
    void insert(int block, long key);

    /** Notes that a request has asked for a chunk that is here, complete or not. */
    void touch(int block);

    /** Notes that a request has asked for a chunk that is not here. */
    void touchAbsent(long key);

    /** Notes that the first load of an idle chunk begins. */
    void use(int block);

    /** Notes that the last transfer of a chunk has ended. */
    void rest(int block);

    /** Returns the idle chunks that go next, without those spared: {@code count}, or fewer if there are no more. */
    IntList victims(int count, IntSet spared);

    /** Removes one of the {@link #victims}. */
    void evict(int block, long key);

    /** Removes a chunk that has not been evicted, but lost. */
    void remove(int block);

    void clear();

    TierOrderState state();

    /** Returns whether the lists hold what they should, once each. */
    boolean isSound();
}
