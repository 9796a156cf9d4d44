package understudy.kvcache.tier;

import static org.assertj.core.api.Assertions.assertThat;

import it.unimi.dsi.fastutil.ints.IntOpenHashSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The audit finds a tier whose parts do not agree. */
final class TierAuditTest {
    private final TierBlocks blocks = new TierBlocks(4);

    @ParameterizedTest
    @EnumSource
    void everyBlockIsCountedOnce(TierPolicy policy) {
        var order = policy.create(blocks);
        for (long key = 10; key < 14; key++) {
            order.insert(blocks.add(key), key);
        }
        complete(order, 0);
        complete(order, 1);
        blocks.addLoad(1);
        order.use(1);
        order.remove(2);
        blocks.remove(2);

        // Block 0 is idle, 1 being loaded, 2 free and 3 being written.
        assertThat(TierAudit.of(blocks, order)).isEqualTo(new TierAudit(4, 1, 1, 1, 1, 0, true));
    }

    @ParameterizedTest
    @EnumSource
    void blockThatThePolicyDoesNotKnow_isFound(TierPolicy policy) {
        var order = policy.create(blocks);
        blocks.complete(blocks.add(10));

        assertThat(TierAudit.of(blocks, order)).isEqualTo(new TierAudit(4, 3, 1, 0, 0, 0, false));
        assertThat(TierAudit.of(blocks, order).isConserved()).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void freeBlockThatThePolicyStillKnows_isFound(TierPolicy policy) {
        var order = policy.create(blocks);
        order.insert(blocks.add(10), 10);
        complete(order, 0);
        blocks.remove(0);
        blocks.complete(blocks.add(11));

        // As many blocks as it should, but block 0 instead of 1.
        assertThat(TierAudit.of(blocks, order)).isEqualTo(new TierAudit(4, 3, 1, 0, 0, 0, false));
    }

    /** Both blocks are idle, and known to the policy; but a chunk that is there twice is found in one of them alone. */
    @ParameterizedTest
    @EnumSource
    void chunkThatIsThereTwice_isFound(TierPolicy policy) {
        var order = policy.create(blocks);
        for (int i = 0; i < 2; i++) {
            order.insert(blocks.add(10), 10);
            complete(order, i);
        }

        assertThat(TierAudit.of(blocks, order)).isEqualTo(new TierAudit(4, 2, 2, 0, 0, 1, true));
        assertThat(TierAudit.of(blocks, order).isConserved()).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void blockEvictedFromThePolicyAlone_isFound(TierPolicy policy) {
        var order = policy.create(blocks);
        order.insert(blocks.add(10), 10);
        complete(order, 0);
        order.evict(order.victims(1, new IntOpenHashSet()).getInt(0), 10);

        assertThat(TierAudit.of(blocks, order).isConserved()).isFalse();
    }

    private void complete(TierOrder order, int block) {
        blocks.complete(block);
        order.rest(block);
    }
}
