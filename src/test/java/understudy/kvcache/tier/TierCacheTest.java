package understudy.kvcache.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import understudy.kvcache.connector.TierStats;
import understudy.kvcache.tier.PrepareStoreOutput.Prepared;
import understudy.kvcache.tier.PrepareStoreOutput.Refused;

/** Rules of a tier that hold for every policy. */
final class TierCacheTest {

    @ParameterizedTest
    @EnumSource
    void blocksNeverUsed_goBeforeFreedOnes_ofWhichTheLastFreedIsFirst(TierPolicy policy) {
        var cache = cache(policy, 4);
        cache.prepareStore(keys(10, 11, 12));
        cache.failStore(10);
        cache.failStore(12);

        var answer = cache.prepareStore(keys(20, 21, 22));

        // Blocks 0, 1, 2 were used and 0, then 2 freed; 3 is new, so it comes first.
        assertThat(answer).isEqualTo(new Prepared(keys(20, 21, 22), blocks(3, 2, 0), keys(), blocks()));
    }

    @ParameterizedTest
    @EnumSource
    void chunk_isPendingUntilItsStoreEnds(TierPolicy policy) {
        var cache = cache(policy, 4);
        assertThat(cache.lookup(10)).isEqualTo(TierLookup.MISS);
        cache.prepareStore(keys(10));
        assertThat(cache.lookup(10)).isEqualTo(TierLookup.PENDING);

        cache.completeStore(10);

        assertThat(cache.lookup(10)).isEqualTo(TierLookup.HIT);
        assertThat(cache.stats()).isEqualTo(new TierStats(3, 1, 1, 0, 0, 0, 1, 0, 0));
    }

    @ParameterizedTest
    @EnumSource
    void store_leavesOutWhatIsThere_andEvictsJustWhatIsMissing(TierPolicy policy) {
        var cache = cache(policy, 4);
        store(cache, 10, 11, 12);

        var answer = cache.prepareStore(keys(10, 20, 21, 22));

        // Of four blocks 3 is free; three chunks are new, so two go: not 10, which is asked for, but 11 and 12.
        // Block 3 was never used; of 1 and 2, freed in this order, the last one is used first.
        assertThat(answer).isEqualTo(new Prepared(keys(20, 21, 22), blocks(3, 2, 1), keys(11, 12), blocks(1, 2)));
        assertThat(cache.stats()).isEqualTo(new TierStats(0, 0, 6, 0, 0, 2, 4, 3, 0));
    }

    @ParameterizedTest
    @EnumSource
    void storeOfWhatIsThere_isNoStore(TierPolicy policy) {
        var cache = cache(policy, 2);
        store(cache, 10, 11);

        assertThat(cache.prepareStore(keys(10, 11))).isEqualTo(new Prepared(keys(), blocks(), keys(), blocks()));
    }

    @ParameterizedTest
    @EnumSource
    void store_isRefusedAsAWhole_ifTooLittleIsIdle(TierPolicy policy) {
        var cache = cache(policy, 3);
        store(cache, 10, 11, 12);
        cache.prepareLoad(keys(10));
        var stateBefore = cache.orderState();

        // Three chunks are wanted, and two of the three blocks are idle.
        assertThat(cache.prepareStore(keys(20, 21, 22))).isEqualTo(new Refused(3));
        // Of these two, 11 is asked for too, which leaves one for two.
        assertThat(cache.prepareStore(keys(11, 20, 21))).isEqualTo(new Refused(2));

        assertThat(cache.orderState()).isEqualTo(stateBefore);
        assertThat(cache.stats()).isEqualTo(new TierStats(0, 0, 3, 0, 2, 0, 3, 0, 1));
        assertThat(cache.prepareStore(keys(20, 21))).isInstanceOf(Prepared.class);
    }

    @ParameterizedTest
    @EnumSource
    void chunk_staysUntilTheLastOfItsLoadsHasEnded(TierPolicy policy) {
        var cache = cache(policy, 1);
        store(cache, 10);

        assertThat(cache.prepareLoad(keys(10)).getInt(0)).isZero();
        cache.prepareLoad(keys(10));
        assertThat(cache.stats().numInRead()).as("blocks, not loads").isEqualTo(1);
        cache.completeLoad(10);
        assertThat(cache.prepareStore(keys(20))).isEqualTo(new Refused(1));
        cache.completeLoad(10);

        assertThat(cache.prepareStore(keys(20))).isEqualTo(new Prepared(keys(20), blocks(0), keys(10), blocks(0)));
    }

    @ParameterizedTest
    @EnumSource
    void failedStore_leavesNothing(TierPolicy policy) {
        var cache = cache(policy, 2);
        cache.prepareStore(keys(10, 11));
        cache.touch(keys(10, 11));

        cache.failStore(10);

        assertThat(cache.lookup(10)).isEqualTo(TierLookup.MISS);
        assertThat(cache.audit()).isEqualTo(new TierAudit(2, 1, 0, 1, 0, 0, true));
        assertThat(cache.prepareStore(keys(10))).isEqualTo(new Prepared(keys(10), blocks(0), keys(), blocks()));
    }

    @ParameterizedTest
    @EnumSource
    void lostChunks_areThoseThatNoTransferUses(TierPolicy policy) {
        var cache = cache(policy, 5);
        store(cache, 13, 12, 11, 10);
        cache.prepareLoad(keys(12));
        cache.prepareStore(keys(14));

        var lost = cache.lose(key -> key != 11);

        // In blocks 0 to 4 are 13, 12 in use, 11 spared, 10, and 14 being written.
        assertThat(lost.toLongArray()).containsExactly(13, 10);
        assertThat(cache.audit()).isEqualTo(new TierAudit(5, 2, 1, 1, 1, 0, true));
        assertThat(cache.audit().isConserved()).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void threshold_isOfLookups(TierPolicy policy) {
        var cache = new TierCache(new TierSpec(4, policy, 2, 100));
        cache.lookup(10);
        cache.lookup(11);
        cache.lookup(11);

        var answer = cache.prepareStore(keys(10, 11));

        assertThat(answer).isEqualTo(new Prepared(keys(11), blocks(0), keys(), blocks()));
        assertThat(cache.stats().numSkippedStores()).isEqualTo(1);
    }

    @Test
    void chunkBelowTheThreshold_isNotSpared() {
        var cache = new TierCache(new TierSpec(1, TierPolicy.LRU, 2, 2));
        lookupTwice(cache, 10);
        store(cache, 10);
        lookupTwice(cache, 20);
        cache.lookup(30);

        // Only two keys are counted: that of 10 is forgotten, so 10 is not among those asked for.
        assertThat(cache.prepareStore(keys(10, 20))).isEqualTo(new Prepared(keys(20), blocks(0), keys(10), blocks(0)));
    }

    @Test
    void lookupsOfTheChunkLookedUpLongestAgo_areForgottenFirst() {
        var cache = new TierCache(new TierSpec(4, TierPolicy.LRU, 2, 2));
        cache.lookup(10);
        cache.lookup(11);
        cache.lookup(10);
        cache.lookup(12);
        cache.lookup(11);

        // 12 takes the place of 11, not of 10, which came back; then 11 that of 10, and begins at 1.
        assertThat(((Prepared) cache.prepareStore(keys(10, 11, 12))).keys().isEmpty())
                .isTrue();
        cache.lookup(12);
        assertThat(((Prepared) cache.prepareStore(keys(10, 11, 12))).keys().toLongArray())
                .containsExactly(12);
    }

    @Test
    void thresholdOfOne_isNone() {
        var cache = new TierCache(new TierSpec(4, TierPolicy.LRU, 1, 100));

        assertThat(((Prepared) cache.prepareStore(keys(10))).keys().toLongArray())
                .containsExactly(10);
    }

    @ParameterizedTest
    @EnumSource
    void clearedTier_isLikeANewOne(TierPolicy policy) {
        var spec = new TierSpec(3, policy, 2, 100);
        var cache = new TierCache(spec);
        lookupTwice(cache, 10, 11, 12, 13, 14);
        store(cache, 10, 11);
        cache.touch(keys(10));
        store(cache, 12, 13, 14);
        cache.touch(keys(12, 11));
        cache.lose(key -> key == 13);

        // With ARC, 14 is in T1, 12 in T2, 11 in B1 and 10 in B2, and the target is 1; with both, a block was freed.
        cache.clear();

        assertThat(cache.orderState()).isEqualTo(new TierCache(spec).orderState());
        assertThat(cache.audit()).isEqualTo(new TierAudit(3, 3, 0, 0, 0, 0, true));
        assertThat(cache.prepareStore(keys(10))).isEqualTo(new Prepared(keys(), blocks(), keys(), blocks()));
        assertThat(cache.lookup(12)).isEqualTo(TierLookup.MISS);
        lookupTwice(cache, 20, 21, 22);
        store(cache, 20, 21, 22);
        assertThat(cache.prepareLoad(keys(20, 21, 22)).toIntArray()).containsExactly(0, 1, 2);
        assertThat(cache.audit()).isEqualTo(new TierAudit(3, 0, 0, 0, 3, 0, true));
    }

    @ParameterizedTest
    @EnumSource
    void transfersThatDoNotRun_cannotEnd(TierPolicy policy) {
        var cache = cache(policy, 4);
        store(cache, 10);
        cache.prepareStore(keys(11));

        assertThatIllegalStateException().isThrownBy(() -> cache.completeStore(10));
        assertThatIllegalStateException().isThrownBy(() -> cache.failStore(12));
        assertThatIllegalStateException().isThrownBy(() -> cache.completeLoad(10));
        assertThatIllegalStateException().isThrownBy(() -> cache.completeLoad(12));
        assertThatIllegalStateException().isThrownBy(() -> cache.prepareLoad(keys(11)));
        assertThatIllegalStateException().isThrownBy(() -> cache.prepareLoad(keys(12)));
        assertThatIllegalStateException().isThrownBy(cache::clear).withMessageContaining("numPending=1");
    }

    @Test
    void setup_isChecked() {
        assertThat(TierSpec.of(7)).isEqualTo(new TierSpec(7, TierPolicy.LRU, 0, 64_000));
        assertThatIllegalArgumentException().isThrownBy(() -> TierSpec.of(0));
        assertThatIllegalArgumentException().isThrownBy(() -> new TierSpec(1, TierPolicy.ARC, -1, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> new TierSpec(1, TierPolicy.ARC, 0, 0));
    }

    static TierCache cache(TierPolicy policy, int numBlocks) {
        return new TierCache(new TierSpec(numBlocks, policy, 0, 100));
    }

    static void store(TierCache cache, long... keys) {
        var prepared = (Prepared) cache.prepareStore(keys(keys));
        prepared.keys().forEach(cache::completeStore);
    }

    static LongList keys(long... keys) {
        return new LongArrayList(keys);
    }

    static IntList blocks(int... blocks) {
        return new IntArrayList(blocks);
    }

    private static void lookupTwice(TierCache cache, long... keys) {
        for (long key : keys) {
            cache.lookup(key);
            cache.lookup(key);
        }
    }
}
