package understudy.kvcache.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static understudy.kvcache.tier.TierCacheTest.blocks;
import static understudy.kvcache.tier.TierCacheTest.cache;
import static understudy.kvcache.tier.TierCacheTest.keys;
import static understudy.kvcache.tier.TierCacheTest.store;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import understudy.kvcache.tier.PrepareStoreOutput.Prepared;
import understudy.kvcache.tier.PrepareStoreOutput.Refused;
import understudy.kvcache.tier.TierOrderState.Arc;
import understudy.kvcache.tier.TierOrderState.Lru;

/** What each policy evicts. The chunks 10, 11, 12 ... are in the blocks 0, 1, 2 ... */
final class TierOrderTest {

    @Test
    void lru_ordersByTheEndOfTransfers() {
        var cache = cache(TierPolicy.LRU, 4);
        cache.prepareStore(keys(10, 11, 12, 13));
        cache.completeStore(12);
        cache.completeStore(10);
        cache.completeStore(11);

        cache.prepareLoad(keys(12));
        assertThat(cache.orderState()).isEqualTo(new Lru(blocks(0, 1)));

        cache.completeLoad(12);
        assertThat(cache.orderState()).isEqualTo(new Lru(blocks(0, 1, 2)));
    }

    @Test
    void lru_putsTheFirstChunkOfARequestLast() {
        var cache = cache(TierPolicy.LRU, 4);
        store(cache, 10, 11, 12);
        cache.prepareStore(keys(13));

        // The request asks for 10, 11 and 13; 13 is being written, and 14 is not here: neither changes anything.
        cache.touch(keys(10, 11, 13, 14));

        assertThat(cache.orderState()).isEqualTo(new Lru(blocks(2, 1, 0)));
    }

    @Test
    void arc_movesWhatIsAskedForToT2_unlessItIsBeingWritten() {
        var cache = cache(TierPolicy.ARC, 5);
        store(cache, 10, 11, 12);
        cache.prepareStore(keys(13, 14));
        cache.prepareLoad(keys(12));

        cache.touch(keys(10, 13, 12));

        // From behind: 12 is in use, and goes to T2 all the same; 13 to the end of T1; 10 to the end of T2.
        assertThat(cache.orderState()).isEqualTo(new Arc(blocks(1, 4, 3), blocks(2, 0), 0, 0, 0));

        cache.touch(keys(12));
        assertThat(cache.orderState()).isEqualTo(new Arc(blocks(1, 4, 3), blocks(0, 2), 0, 0, 0));
    }

    @Test
    void arc_evictsFromT1_whileItIsNotBelowTheTarget() {
        var cache = cache(TierPolicy.ARC, 4);
        store(cache, 10, 11, 12, 13);
        cache.touch(keys(10));

        // The target is 0, so T1 gives up 11, 12, 13 before T2 gives up 10; blocks come back last freed first.
        assertThat(cache.prepareStore(keys(20, 21, 22, 23)))
                .isEqualTo(new Prepared(
                        keys(20, 21, 22, 23), blocks(0, 3, 2, 1), keys(11, 12, 13, 10), blocks(1, 2, 3, 0)));
        assertThat(cache.orderState()).isEqualTo(new Arc(blocks(0, 3, 2, 1), blocks(), 3, 1, 0));
    }

    @Test
    void arc_movesItsTargetTowardsWhatWasMissed() {
        var cache = cache(TierPolicy.ARC, 4);
        store(cache, 10, 11, 12, 13);
        cache.touch(keys(10));
        store(cache, 20, 21, 22, 23);

        // B1 has 11, 12, 13 and B2 has 10. One of B2: 0 - max(1, 3 / 1), but not below 0.
        cache.touch(keys(10));
        assertThat(target(cache)).isZero();
        // One of B1: 0 + max(1, 1 / 3) = 1; three more: 4, and no further, since there are 4 blocks.
        cache.touch(keys(11));
        assertThat(target(cache)).isEqualTo(1);
        cache.touch(keys(11, 12, 13, 11));
        assertThat(target(cache)).isEqualTo(4);
        // One of B2: 4 - 3 / 1.
        cache.touch(keys(10));
        assertThat(target(cache)).isEqualTo(1);
    }

    @Test
    void arc_evictsFromT2_whileT1IsBelowTheTarget() {
        var cache = cache(TierPolicy.ARC, 3);
        store(cache, 10, 11, 12);
        store(cache, 20);
        cache.touch(keys(10, 20, 11, 12));

        // 10 went for 20. From behind: 12, 11, 20 go to T2, 10 is in B1: the target is 0 + max(1, 0 / 1) = 1. T1 is
        // empty.
        assertThat(cache.orderState()).isEqualTo(new Arc(blocks(), blocks(2, 1, 0), 1, 0, 1));
        store(cache, 21);
        // T1 has 0 < 1: 12, the first of T2. Then T1 has 1, not below 1: 21.
        assertThat(cache.orderState()).isEqualTo(new Arc(blocks(2), blocks(1, 0), 1, 1, 1));
        store(cache, 22);
        assertThat(cache.orderState()).isEqualTo(new Arc(blocks(2), blocks(1, 0), 2, 1, 1));
    }

    @Test
    void arc_evictsFromT2_whereT1HasNothingIdle() {
        var cache = cache(TierPolicy.ARC, 3);
        store(cache, 10, 11, 12);
        cache.touch(keys(10));
        cache.prepareLoad(keys(11, 12));

        // T1 has 2, not below 0, but both are in use.
        assertThat(cache.prepareStore(keys(20))).isEqualTo(new Prepared(keys(20), blocks(0), keys(10), blocks(0)));
    }

    @Test
    void arc_doesNotEvictFromT1_whileItIsBelowTheTarget() {
        var cache = cache(TierPolicy.ARC, 2);
        store(cache, 10, 11);
        store(cache, 20, 21);
        cache.touch(keys(20, 10, 11));
        cache.prepareLoad(keys(20));

        // The target is 0 + 1 + 1, for 10 and 11 in B1. T1 has 21 alone; T2 has 20, which is in use.
        assertThat(cache.prepareStore(keys(30))).isEqualTo(new Refused(1));
        assertThat(cache.orderState()).isEqualTo(new Arc(blocks(0), blocks(1), 2, 0, 2));
    }

    @Test
    void arc_forgetsTheKeyOfWhatComesBack_andPutsItIntoT1() {
        var cache = cache(TierPolicy.ARC, 1);
        store(cache, 10);
        store(cache, 11);
        assertThat(cache.orderState()).isEqualTo(new Arc(blocks(0), blocks(), 1, 0, 0));

        store(cache, 10);

        // B1 had 10; it has 11 now.
        assertThat(cache.orderState()).isEqualTo(new Arc(blocks(0), blocks(), 1, 0, 0));
        cache.touch(keys(11));
        assertThat(target(cache)).isEqualTo(1);
    }

    @Test
    void arc_remembersAsManyKeysAsItHasBlocks() {
        var cache = cache(TierPolicy.ARC, 2);
        for (long key = 10; key < 20; key += 2) {
            store(cache, key, key + 1);
        }

        // Of the eight evicted ones the last two, 16 and 17, are remembered. The blocks change places with each store.
        assertThat(cache.orderState()).isEqualTo(new Arc(blocks(0, 1), blocks(), 2, 0, 0));
        cache.touch(keys(15));
        assertThat(target(cache)).isZero();
        cache.touch(keys(16));
        assertThat(target(cache)).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    void lostChunk_isNotAGhost(TierPolicy policy) {
        var cache = cache(policy, 2);
        store(cache, 10, 11);
        cache.touch(keys(11));
        cache.lose(key -> true);

        assertThat(cache.orderState())
                .isEqualTo(policy == TierPolicy.LRU ? new Lru(blocks()) : new Arc(blocks(), blocks(), 0, 0, 0));
    }

    private static double target(TierCache cache) {
        return ((Arc) cache.orderState()).target();
    }
}
